// compiler_view: predicted times of one-core programs beside what the compilers of TPU v4, v5e, v5p and v6e estimate.
//
//   bazel run -c opt //benchmarks:compiler_view
// Prints for each chip median and 90th percentile of the errors over its blind batch, by the plain rules that it is simulated
// by, and by the rules found on TPU v3's compiler at the chip's rates. Writes benchmarks/results/compiler_view.txt. A few
// seconds.
// BUILD: data = ["//tests/corpus:blind", "//tests/corpus:tpu_v3"]
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/ablation.h"
#include "benchmarks/gnuplot.h"
#include "benchmarks/program_set.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "simulator/machines/machine.h"
#include "simulator/machines/tpu_v3_core.h"

namespace toroid {
namespace {

constexpr char kHeader[] =
    "Times of one-core programs beside the estimates of the chips' compilers (libtpu 0.0.52), errors |model / estimate\n"
    "- 1| in percent; written by //benchmarks:compiler_view. Blind batches: no rule was found on them. Of chips of two cores one\n"
    "core. plain rules: those that the chip is simulated by, products at the full peak. rules of TPU v3: those of its\n"
    "compiler (docs/rules.md), with the chip's clock, units and memory.\n\n";

struct Chip {
  const char *batch, *slice;
  int cores;  // That one device is.
};
constexpr Chip kChips[] = {{"blind_tpu_v4", "tpu-v4-8", 2},
                           {"blind_tpu_v5e", "tpu-v5e-1", 1},
                           {"blind_tpu_v5p", "tpu-v5p-8", 2},
                           {"blind_tpu_v6e", "tpu-v6e-1", 1}};

// One core of a device.
CoreSpec OneCore(CoreSpec core, int cores) {
  core.mutable_matrix()->set_units(core.matrix().units() / cores);
  core.mutable_vector()->set_slots(core.vector().slots() / cores);
  core.mutable_memory()->set_bytes_per_second(core.memory().bytes_per_second() / cores);
  return core;
}

// The core of TPU v3 with the rates of `core`.
CoreSpec AsTpuV3(const CoreSpec& core) {
  CoreSpec as_v3 = TpuV3Core();
  as_v3.set_clock_hertz(core.clock_hertz());
  as_v3.mutable_matrix()->set_units(core.matrix().units());
  as_v3.mutable_matrix()->set_tile(core.matrix().tile());
  as_v3.mutable_vector()->set_slots(core.vector().slots());
  as_v3.mutable_memory()->set_bytes_per_second(core.memory().bytes_per_second());
  as_v3.mutable_memory()->set_stream_efficiency(core.memory().stream_efficiency());
  return as_v3;
}

absl::StatusOr<std::string> RowOf(const Chip& chip, const std::string& corpus) {
  ASSIGN_OR_RETURN(const Batch batch, FindBatch(corpus, chip.batch));
  ASSIGN_OR_RETURN(std::vector<EstimatedProgram> programs, ReadPrograms(batch.path, Programs::kAll));
  std::vector<JudgedProgram> judged_programs;
  for (EstimatedProgram& program : programs) {
    judged_programs.push_back(
        {program.name, 0, std::move(program.file), program.compiler_us, /*is_partial=*/true});
  }
  ASSIGN_OR_RETURN(const Machine machine, LoadMachine(chip.slice));
  const CoreSpec core = OneCore(machine.family.core(), chip.cores);
  ASSIGN_OR_RETURN(const std::vector<double> plain, SimpleErrors(judged_programs, core));
  ASSIGN_OR_RETURN(const std::vector<Judgement> judged,
                   JudgeAll(judged_programs, AsTpuV3(core), /*threads=*/1));
  std::vector<double> fine;
  for (const Judgement& one : judged) fine.push_back(one.error);
  const Errors of_plain = ErrorsOf(plain), of_fine = ErrorsOf(fine);
  return absl::StrFormat("%-8s %8d %12.1f %7.1f %18.1f %7.1f\n", batch.machine, judged_programs.size(),
                         100 * of_plain.median, 100 * of_plain.ninetieth, 100 * of_fine.median,
                         100 * of_fine.ninetieth);
}

absl::Status Run(const std::string& corpus) {
  std::string text = kHeader;
  absl::StrAppend(&text, "chip     programs  plain rules:   90th  rules of TPU v3:    90th\n");
  for (const Chip& chip : kChips) {
    ASSIGN_OR_RETURN(const std::string row, RowOf(chip, corpus));
    absl::StrAppend(&text, row);
  }
  std::fputs(text.c_str(), stdout);
  return WriteFile(ResultPath("compiler_view.txt"), text);
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Times of one-core programs beside the estimates of the compilers of TPU v4 to v6e.",
               "compiler_view");
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::Run("tests/corpus"); });
}
