// paper: everything of GShard's paper that Toroid reproduces, one benchmark after the other.
//
//   bazel run -c opt //benchmarks:paper
// Runs the commands below, writes their tables and plots into benchmarks/results/, and makes
// docs/reproduction.md from them. Ends with one line per command: its time, and whether it succeeded. Exit
// status 1 if one failed.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/gnuplot.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"

// BUILD: data = [":figure10_device_assignment", ":figure1_cost", ":figure2_compile_time", ":figure7_memory", ":figure8_breakdown", ":figure9_collectives", ":table1_models", ":table3_throughput", ":table4_operator_scaling"]

namespace toroid {
namespace {

struct Reproduced {
  const char* name;
  const char* heading;
};

constexpr Reproduced kBenchmarks[] = {
    {"figure1_cost", "Figure 1: cost of training as models grow"},
    {"figure2_compile_time", "Figure 2: compilation time"},
    {"figure7_memory", "Figure 7: memory of a core"},
    {"figure8_breakdown", "Figure 8: where the time of two layers goes"},
    {"figure9_collectives", "Figure 9: all-to-all and all-reduce"},
    {"figure10_device_assignment", "Figure 10: device assignment"},
    {"table1_models", "Table 1: the models"},
    {"table3_throughput", "Tables 2 and 3: throughput and cost"},
    {"table4_operator_scaling", "Table 4: how operators scale"},
};

constexpr char kIntroduction[] =
    R"(# GShard's figures and tables, beside ours

Written by `bazel run -c opt //benchmarks:paper` from `benchmarks/results/`. Each section has the paper's figures
(arXiv:2006.16668), Toroid's figures, and the error. Programs are built by `examples/moe`, partitioned, and simulated on
slices of TPU v3. The machine's parameters are those of `simulator/machines/`, each with its source; none is set for a row of
these tables. [The machine model](machine_model.md) states which figures it was calibrated on.

Quality cannot be reproduced: figures 4 to 6 and table 2 are about translations learnt from private data. Their published
numbers are given beside predicted costs. [training.md](training.md) describes a small model trained on real names, and the
effects of more experts and of the auxiliary loss on it.
)";

// Writes docs/reproduction.md from the results.
absl::Status WritePage() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) return absl::OkStatus();  // Only `bazel run` tells where the page is.
  std::string page = kIntroduction;
  for (const Reproduced& benchmark : kBenchmarks) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(ResultPath(absl::StrCat(benchmark.name, ".txt"))));
    absl::StrAppend(&page, "\n## ", benchmark.heading, "\n\n![](../benchmarks/results/", benchmark.name,
                    ".svg)\n\n```\n", text, "```\n");
  }
  return WriteFile(absl::StrCat(workspace, "/docs/reproduction.md"), page);
}

absl::Status Paper() {
  std::string summary;
  std::vector<std::string> failed;
  const Stopwatch all;
  for (const Reproduced& benchmark : kBenchmarks) {
    const char* name = benchmark.name;
    const std::string path = absl::StrCat("benchmarks/", name);
    if (!std::filesystem::exists(path)) {
      return absl::NotFoundError(
          absl::StrCat(path, " is missing; run this command by bazel run -c opt //benchmarks:paper"));
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
  if (failed.empty()) return WritePage();
  return absl::InternalError(absl::StrCat("failed: ", absl::StrJoin(failed, ", ")));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Runs every benchmark that has a figure or a table of GShard's paper.", "paper");
  return toroid::RunCommand(app, argc, argv, toroid::Paper);
}
