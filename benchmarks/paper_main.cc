// paper: everything of GShard's paper that Toroid reproduces, one benchmark after the other.
//
//   bazel run -c opt //benchmarks:paper
// Runs the commands below and writes their tables and plots into benchmarks/results/. Ends with a line for each: its time,
// and whether it ran. Exit status 1 if one did not.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "hlo/base/command_line.h"
#include "hlo/base/stopwatch.h"

// BUILD: data = [":figure10_device_assignment", ":figure1_cost", ":figure2_compile_time", ":figure7_memory", ":figure8_breakdown", ":figure9_collectives", ":table1_models", ":table3_throughput", ":table4_operator_scaling"]

namespace toroid {
namespace {

constexpr const char* kBenchmarks[] = {
    "figure1_cost",        "figure2_compile_time",       "figure7_memory", "figure8_breakdown",
    "figure9_collectives", "figure10_device_assignment", "table1_models",  "table3_throughput",
    "table4_operator_scaling"};

absl::Status Paper() {
  std::string summary;
  std::vector<std::string> failed;
  const Stopwatch all;
  for (const char* name : kBenchmarks) {
    const std::string path = absl::StrCat("benchmarks/", name);
    if (!std::filesystem::exists(path)) {
      return absl::NotFoundError(absl::StrCat(path, " is not here; run this by bazel run -c opt //benchmarks:paper"));
    }
    std::printf("==== %s\n", name);
    std::fflush(stdout);
    const Stopwatch start;
    const bool ran = std::system(path.c_str()) == 0;
    absl::StrAppendFormat(&summary, "%-28s %6.1f s  %s\n", name, start.Seconds(),
                          ran ? absl::StrCat("benchmarks/results/", name, ".txt") : "FAILED");
    if (!ran) failed.push_back(name);
    std::printf("\n");
  }
  std::printf("==== in all %.0f s\n%s", all.Seconds(), summary.c_str());
  if (failed.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("failed: ", absl::StrJoin(failed, ", ")));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Runs every benchmark that has a figure or a table of GShard's paper.", "paper");
  return toroid::RunCommand(app, argc, argv, toroid::Paper);
}
