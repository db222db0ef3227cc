#include "commands/search_command.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "commands/file_names.h"
#include "explain/found_text.h"
#include "explain/what_if.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/cost/target.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/change_mesh.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/sharding_search/free_shardings.h"
#include "partitioner/sharding_search/search_meshes.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/cost/predict_times.h"

namespace toroid {
namespace {

// Meshes for which programs are written, of those of a number of devices.
constexpr int kMostMeshes = 3;
constexpr char kHeader[] = "# Found by hlo-partition --search=shardings";

std::atomic<bool> interrupted = false;
void Interrupt(int) { interrupted = true; }

// Ctrl-C ends the search, not the command, as long as this object lives.
class Interruptible {
 public:
  Interruptible() {
    interrupted = false;
    before_ = std::signal(SIGINT, Interrupt);
  }
  ~Interruptible() { std::signal(SIGINT, before_); }

 private:
  void (*before_)(int);
};

void ShowProgress(const SolveProgress& progress) {
  if (!progress.cost) return;
  const double cost = static_cast<double>(*progress.cost), bound = static_cast<double>(progress.bound);
  absl::FPrintF(stderr, "\r\033[Ksearch: step %d, %.3f ms by prices, at most %.2f %% above the best",
                progress.steps, cost / 1e9, cost > 0 ? 100 * (cost - bound) / cost : 0);
  std::fflush(stderr);
}

absl::StatusOr<MeasuredProgram> Measure(const Module& written, const Machine& machine) {
  ASSIGN_OR_RETURN(const PredictedTimes times, PredictTimes(written, machine));
  const ProgramFigures figures = FiguresOf(written, &times);
  return MeasuredProgram{times.step_seconds, times.collective_seconds, figures.peak_bytes};
}

// What a device has, if the user does not say: the memory of the machine, or what the program needed before, if that is more.
int64_t MemoryOf(const PartitionInput& input, const std::optional<ProgramFigures>& before) {
  const int64_t own = input.slice ? input.slice->machine.family.core().memory_bytes() : kTarget.memory_bytes;
  return std::max(own, before ? before->peak_bytes : 0);
}

ShardingSearchOptions SearchOptionsOf(const PartitionCommand& command, const PartitionInput& input,
                                      const std::optional<ProgramFigures>& before) {
  ShardingSearchOptions options;
  options.partition = OptionsOf(command, input);
  options.memory = command.search.memory ? *command.search.memory : MemoryOf(input, before);
  options.given = input.annotated.get();
  if (input.slice) {
    options.measure = [&](const Module& written) { return Measure(written, input.slice->machine); };
  }
  options.solve.steps = command.search.steps;
  options.solve.seconds = command.search.seconds;
  options.solve.cancelled = [] { return interrupted.load(); };
  if (command.search.shows_progress && isatty(STDERR_FILENO)) options.solve.progress = ShowProgress;
  if (command.search.repeats != "auto") options.repeats = command.search.repeats == "share";
  return options;
}

// A file that a search has written may be written again.
absl::Status CheckMayWrite(const std::string& file) {
  if (file.empty() || file == "-" || access(file.c_str(), F_OK) != 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, ReadInput(file));
  if (text.empty() || absl::StartsWith(text, kHeader)) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      "--annotations=", file,
      ": with --search the annotations are written, and this file is by someone else; name another file"));
}

// Devices to search meshes for: those asked for, else those of the module as it was given.
int64_t DevicesOf(const PartitionCommand& command, const PartitionInput& input) {
  if (command.options.num_partitions != 0) return command.options.num_partitions;
  if (input.annotated != nullptr) {
    const auto given = PrepareProgram(*input.annotated, OptionsOf(command, input));
    if (given.ok()) return (*given)->annotations.mesh.num_devices();
  }
  return input.file.module->config().num_partitions;
}

// The figures of the program with the shardings that were there before, if it can be partitioned.
std::optional<ProgramFigures> FiguresBefore(const PartitionCommand& command, const PartitionInput& input) {
  if (input.annotated == nullptr) return std::nullopt;
  const absl::StatusOr<Partitioned> before = PartitionModule(*input.annotated, OptionsOf(command, input));
  if (!before.ok()) return std::nullopt;
  if (!input.slice) return FiguresOf(*before->module);
  const absl::StatusOr<PredictedTimes> times = PredictTimes(*before->module, input.slice->machine);
  if (!times.ok()) return std::nullopt;
  return FiguresOf(*before->module, &*times);
}

}  // namespace

void AddSearchFlags(CLI::App& app, SearchRequest* request) {
  CLI::Option* search =
      app.add_option_function<std::string>(
             "--search", [request](const std::string&) { request->is_asked = true; },
             "shardings: choose the shardings of all arrays that have none, and print the few annotations that tell "
             "them; --annotations then names a file to write. Without --mesh, of --num_partitions devices, the mesh is chosen, too")
          ->check(CLI::IsMember({"shardings"}))
          ->type_name("shardings");
  const auto globs = [&](const char* name, std::vector<std::string>* list, const char* help) {
    return app.add_option(name, *list, help)
        ->type_name("GLOB")
        ->expected(1)
        ->needs(search)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  globs("--free", &request->free,
        "Search: choose the shardings of these anew, by name or op_name; '*': all that the module states");
  globs("--fix", &request->fix, "Search: of those that --free names, these keep their shardings");
  app.add_option(
         "--memory", request->memory,
         "Search: bytes that a device has, as in 16GiB, by the peak that --stats gives; default: the memory of --machine (16 GiB "
         "without one), or what the program needs by the shardings that --free takes off, if that is more")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true))
      ->needs(search);
  app.add_option("--search_steps", request->steps,
                 "Search: rounds of equal work of the solver, for each problem")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->needs(search);
  app.add_option(
         "--search_seconds", request->seconds,
         "Search: seconds of the solver for each problem, in place of steps; then two runs may differ")
      ->check(CLI::PositiveNumber)
      ->needs(search);
  app.add_option(
         "--repeats", request->repeats,
         "Search: whether layers that repeat share their shardings; auto: in programs of more than 600 ops")
      ->check(CLI::IsMember({"auto", "share", "apart"}))
      ->needs(search);
}

absl::Status SearchShardings(const PartitionCommand& command, PartitionInput* input) {
  RETURN_IF_ERROR(CheckMayWrite(command.annotations));
  RETURN_IF_ERROR(CheckCanBePartitioned(*input->file.module));
  const Stopwatch clock;
  const Interruptible interruptible;
  Module& module = *input->file.module;
  const std::optional<ProgramFigures> before = FiguresBefore(command, *input);
  const ShardingSearchOptions options = SearchOptionsOf(command, *input, before);
  MeshFound made;
  if (StatesShardings(module)) {
    ASSIGN_OR_RETURN(made.found, FindShardings(module, options));
  } else {
    ASSIGN_OR_RETURN(made, FindMeshAndShardings(module, DevicesOf(command, *input), kMostMeshes, options));
    RETURN_IF_ERROR(ChangeMesh(made.mesh, &module));
  }
  if (options.solve.progress) std::fputs("\r\033[K", stderr);
  if (made.found.is_given) {
    input->file.module = std::move(input->annotated);
  } else {
    RETURN_IF_ERROR(GiveAnnotations(made.found.annotations, &module));
  }
  std::optional<PredictedTimes> times;
  if (input->slice) {
    ASSIGN_OR_RETURN(times, PredictTimes(*made.found.partitioned.module, input->slice->machine));
  }
  const ProgramFigures figures = FiguresOf(*made.found.partitioned.module, times ? &*times : nullptr);
  const std::string text = FoundText(made.found, made.mesh, figures, before, clock.Seconds());
  std::fputs(text.c_str(), stdout);
  if (command.annotations.empty()) return absl::OkStatus();
  return WriteOutput(command.annotations,
                     absl::StrCat(kHeader, "\n", AnnotationLines(made.found, made.mesh)));
}

}  // namespace toroid
