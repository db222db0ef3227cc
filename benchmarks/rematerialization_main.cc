// rematerialization: the values that are rematerialized in training steps that do not fit, by Toroid and by
// Google's compiler.
// BUILD: data = ["//tests/corpus:tpu_v3"]
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
  if (!work.fits) return absl::StrFormat("%47s", "does not fit");
  return absl::StrFormat("%7.0f ms %6d %6.0f ms %6.1f %% %7.2f GiB", work.all_milliseconds,
                         static_cast<int>(work.values), work.milliseconds, work.Share() * 100,
                         work.gibibytes);
}

std::string Table(const std::vector<OversizedProgram>& programs) {
  std::string text;
  for (const OversizedProgram& program : programs) {
    const bool both = program.compiler.fits && program.ours.fits;
    const double error = program.ours.all_milliseconds / program.compiler.all_milliseconds - 1;
    absl::StrAppendFormat(&text, "%-10s | %s | %s |%s\n", program.name, Columns(program.compiler),
                          Columns(program.ours), both ? absl::StrFormat(" %+5.1f %%", error * 100) : "");
  }
  return text;
}

absl::Status Rematerialization() {
  std::string text =
      "Rematerialization in training steps that keep all values and do not fit. Written by //benchmarks:rematerialization.\n"
      "Columns: time of all computation; rematerialized values, their time and its share; memory except arguments and results. all:\n"
      "the error of our time of all computation.\n\n"
      "           |                             Google's compiler   |                                            ours |   all\n";
  ASSIGN_OR_RETURN(const std::vector<OversizedProgram> steps, SimulateOversizedSteps());
  absl::StrAppend(&text, "MoE(2048E) on 2,048 cores\n", Table(steps));
  ASSIGN_OR_RETURN(const std::vector<OversizedProgram> programs,
                   SimulateOversizedPrograms("tests/corpus/tpu_v3/oversized"));
  absl::StrAppend(&text, "Other programs on one core\n", Table(programs));
  std::fputs(text.c_str(), stdout);
  return WriteFile(ResultPath("rematerialization.txt"), text);
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app(
      "Simulates training steps that do not fit into memory, beside the same steps compiled by Google's compiler.",
      "rematerialization");
  return toroid::RunCommand(app, argc, argv, toroid::Rematerialization);
}
