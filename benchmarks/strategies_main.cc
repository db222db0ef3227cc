// strategies: what each strategy of the search adds, beside all others and alone, and what it costs.
// BUILD: data = ["//tests/corpus:forms", "//tests/corpus:full_size", "//tests/corpus:jax", "//tests/corpus:mixed_precision", "//tests/corpus:tpu_v3", "//tests/corpus:wasteful"]
//
//   bazel run -c opt //benchmarks:strategies [-- FILE_OR_FOLDER...]
// Partitions each program with the first plan alone, with all strategies, with all but one and with one alone. Prints what each
// adds, its time, and the programs that it changes most. Without arguments it takes the programs of tests/corpus that
// have several devices, and writes the tables to benchmarks/results/strategies.txt. Programs that no strategy was made for
// show best whether it is worth its time.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "benchmarks/gnuplot.h"
#include "benchmarks/strategy_runs.h"
#include "benchmarks/strategy_tables.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"

namespace toroid {
namespace {

constexpr const char* kCorpora[] = {
    "tests/corpus/jax",       "tests/corpus/wasteful",        "tests/corpus/forms",
    "tests/corpus/full_size", "tests/corpus/mixed_precision", "tests/corpus/tpu_v3/moe"};
constexpr int kMostChanges = 4;

constexpr char kLegend[] = R"(
with it / without it: geometric means over all programs; below 1: it saves. changed: the plan is another one; faster, slower:
predicted. A ratio is at most 100 and at least 1/100. seconds: of the partitioned program by the default cost model, op by op,
nothing fused or overlapped. all: all strategies, against the first plan. beside all others: all, against all but it. alone: the
first plan and it, against the first plan.

)";
constexpr char kTimes[] = R"(
Processor time that each adds to partitioning, measured on one machine; / first: divided by that of partitioning by the first plan.

)";
constexpr char kChanges[] = R"(
The programs whose predicted seconds each changes most, with it / without it.

)";

// The modules among the files of a folder, in order of names; a file itself.
std::vector<std::string> ModulesOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const absl::string_view name = WithoutGz(entry.path().native());
    if (absl::EndsWith(name, ".hlo") || absl::EndsWith(name, ".pb")) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string NameOf(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  absl::string_view name = WithoutGz(file);
  for (const char* extension : {".pb", ".hlo", ".snapshot"}) name = absl::StripSuffix(name, extension);
  return std::string(name);
}

absl::StatusOr<StrategyRuns> RunsOf(const std::string& path) {
  ASSIGN_OR_RETURN(const HloFile file, ReadHloFile(path));
  absl::StatusOr<StrategyRuns> runs = RunStrategies(NameOf(path), *file.module);
  if (runs.ok()) return runs;
  return absl::Status(runs.status().code(), absl::StrCat(path, ": ", runs.status().message()));
}

absl::Status MeasureStrategies(const std::vector<std::string>& given) {
  const std::vector<std::string> inputs =
      given.empty() ? std::vector<std::string>(std::begin(kCorpora), std::end(kCorpora)) : given;
  std::vector<StrategyRuns> all;
  std::string left_out;
  for (const std::string& input : inputs) {
    for (const std::string& path : ModulesOf(input)) {
      absl::StatusOr<StrategyRuns> runs = RunsOf(path);
      if (runs.ok()) {
        all.push_back(*std::move(runs));
      } else {
        absl::StrAppend(&left_out, runs.status().message(), "\n");
      }
    }
  }
  if (all.empty()) return absl::InvalidArgumentError(absl::StrCat("no program to measure; ", left_out));
  std::string text =
      absl::StrFormat("What each strategy adds to %d programs. Written by //benchmarks:strategies.\n%s",
                      static_cast<int>(all.size()), kLegend);
  absl::StrAppend(&text, GainsTable(all), kTimes, TimesTable(all), kChanges, ChangesTable(all, kMostChanges));
  if (!left_out.empty()) absl::StrAppend(&text, "\nLeft out:\n", left_out);
  std::fputs(text.c_str(), stdout);
  return given.empty() ? WriteFile(ResultPath("strategies.txt"), text) : absl::OkStatus();
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Measures what each strategy of the partitioner's search adds.", "strategies");
  std::vector<std::string> inputs;
  app.add_option("IN", inputs, "Modules, or folders of modules; default: those of tests/corpus");
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::MeasureStrategies(inputs); });
}
