// fuzz: changes inputs of the corpus at random and feeds them to the readers, the verifier, the interpreter
// and the partitioner.
//
//   bazel build --config=asan //tests/fuzz:fuzz
//   bazel-bin/tests/fuzz/fuzz --target=text --count=1000000
//
// Execution i of a seed is always the same: `--from=i --count=1` repeats it, `--print` shows its input. Ends
// with status 1 at the first violated promise. An input that crashes or takes over ten seconds is left in the
// file --save.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "tests/fuzz/fuzz_targets.h"

extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace toroid {
namespace {

constexpr int kMaxSeconds = 10;

struct Flags {
  std::string target;
  int64_t from = 0, count = 10000;
  uint64_t seed = 1;
  std::string save = "/tmp/fuzz_input";
  bool print = false;
};

// State that the signal handlers need; they may not allocate.
const std::string* current_input = nullptr;
const char* save_path = "";

void SaveInput() {
  if (current_input == nullptr) return;
  const int file = open(save_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  ssize_t written = write(file, current_input->data(), current_input->size());
  constexpr char kText[] = "fuzz: the input is in the file --save\n";
  written += write(STDERR_FILENO, kText, sizeof(kText) - 1);
  (void)written;
  close(file);
}

void OnSignal(int number) {
  if (number == SIGALRM) {
    constexpr char kText[] = "fuzz: over ten seconds\n";
    const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
    (void)written;
  }
  SaveInput();
  signal(number == SIGALRM ? SIGABRT : number, SIG_DFL);
  raise(number == SIGALRM ? SIGABRT : number);
}

void SetTimer(int seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

int Fuzz(const Flags& flags, const FuzzTarget& target) {
  save_path = flags.save.c_str();
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(SaveInput);
  } else {
    for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) signal(number, OnSignal);
  }
  signal(SIGALRM, OnSignal);

  const std::vector<std::string> seeds = target.Seeds();
  const absl::Span<const std::string> choices = absl::MakeConstSpan(seeds);
  int64_t read = 0;
  double slowest = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds_since = [](std::chrono::steady_clock::time_point then) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
  };
  for (int64_t i = flags.from; i < flags.from + flags.count; ++i) {
    RandomSource random(flags.seed * 0x100000001B3 + static_cast<uint64_t>(i));
    const std::string& seed = random.Of(choices);
    const std::string input = target.Mutate(seed, random.Of(choices), &random);
    if (flags.print) std::fwrite(input.data(), 1, input.size(), stdout);
    current_input = &input;
    SetTimer(kMaxSeconds);
    const auto begin = std::chrono::steady_clock::now();
    const absl::Status status = target.Execute(input);
    slowest = std::max(slowest, seconds_since(begin));
    SetTimer(0);
    read += status.ok();
    if (flags.print) std::fprintf(stderr, "%s\n", status.ToString().c_str());
    if (status.code() == absl::StatusCode::kInternal) {
      SaveInput();
      std::fprintf(stderr, "fuzz: execution %lld: %s\n", static_cast<long long>(i),
                   std::string(status.message()).c_str());
      return 1;
    }
    current_input = nullptr;
    if ((i + 1) % 10000 == 0 && isatty(STDERR_FILENO)) {
      std::fprintf(stderr, "\r%lld executions, %.0f s", static_cast<long long>(i + 1 - flags.from),
                   seconds_since(start));
    }
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s: %lld executions in %.0f s, %lld accepted, slowest %.2f s, peak memory %ld MiB\n",
              flags.target.c_str(), static_cast<long long>(flags.count), seconds_since(start),
              static_cast<long long>(read), slowest, usage.ru_maxrss / 1024);
  return 0;
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Feeds changed inputs of the corpus to the code; see the comment at the top of fuzz_main.cc.",
               "fuzz");
  toroid::Flags flags;
  std::vector<std::string> names;
  std::string listed;
  for (const auto& target : toroid::FuzzTargets()) {
    names.push_back(std::string(target.name));
    absl::StrAppend(&listed, "\n  ", target.name, ": ", target.what);
  }
  app.add_option("--target", flags.target, "One of:" + listed)->required()->check(CLI::IsMember(names));
  app.add_option("--from", flags.from, "Number of the first execution");
  app.add_option("--count", flags.count, "Number of executions");
  app.add_option("--seed", flags.seed, "Another seed, other inputs");
  app.add_option("--save", flags.save, "Where an input that fails is left");
  app.add_flag("--print", flags.print, "Print every input, and what came of it on standard error");
  CLI11_PARSE(app, argc, argv);
  google::protobuf::SetLogHandler(nullptr);  // It would report damage, that is, every input.
  for (const auto& target : toroid::FuzzTargets()) {
    if (target.name == flags.target) return toroid::Fuzz(flags, *target.make());
  }
  return 2;
}
