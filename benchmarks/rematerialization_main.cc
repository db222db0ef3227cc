// rematerialization: what is made a second time of training steps that do not fit, beside what Google's compiler makes twice.
//
//   bazel run -c opt //benchmarks:rematerialization
// Prints the table and writes it to benchmarks/results/rematerialization.txt.
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/gnuplot.h"
#include "benchmarks/rematerialization_model.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

std::string Columns(const RepeatedWork& work) {
  if (!work.fits) return absl::StrFormat("%36s", "does not fit");
  return absl::StrFormat("%6d %8.0f ms %6.1f %% %7.2f GiB", static_cast<int>(work.values), work.milliseconds, work.share * 100,
                         work.gibibytes);
}

absl::Status Rematerialization() {
  std::string text =
      "What is made a second time of MoE(2048E) steps that keep all and do not fit. Written by //benchmarks:rematerialization.\n"
      "Values, their time, its share of all computation, and memory beside arguments and results.\n\n"
      "layers |               Google's compiler      |                             ours     |   time\n";
  ASSIGN_OR_RETURN(const std::vector<StepThatDoesNotFit> steps, SimulateStepsThatDoNotFit());
  for (const StepThatDoesNotFit& step : steps) {
    const bool both = step.compiler.fits && step.ours.fits;
    absl::StrAppendFormat(&text, "%6d | %s | %s |%s\n", static_cast<int>(step.layers), Columns(step.compiler), Columns(step.ours),
                          both ? absl::StrFormat(" %+5.0f %%", (step.ours.milliseconds / step.compiler.milliseconds - 1) * 100) : "");
  }
  std::fputs(text.c_str(), stdout);
  return WriteFile(ResultPath("rematerialization.txt"), text);
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Simulates training steps that do not fit into memory, beside what Google's compiler makes of them.", "rematerialization");
  return toroid::RunCommand(app, argc, argv, toroid::Rematerialization);
}
