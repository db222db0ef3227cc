// chip_model: predicted times beside the estimates of Google's compiler for TPU v3, program by program.
//
//   bazel run -c opt //benchmarks:chip_model
// Prints for each program the compiler's microseconds, ours and the error, then the errors of the calibrating third and of
// the rest apart, temporary memory as stated and as predicted, and dots as measured.
// BUILD: data = ["//tests/corpus:tpu_v3"]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/chip_estimates.h"
#include "hlo/base/status.h"
#include "simulator/machines/tpu_v3_core.h"

namespace toroid {
namespace {

void PrintRows(const char* title, const std::vector<ChipEstimate>& estimates) {
  std::printf("%s\n%-32s %-8s %12s %12s %8s\n", title, "program", "class", "compiler us", "model us", "error");
  for (const ChipEstimate& e : estimates) {
    std::printf("%-32s %-8s %12.2f %12.2f %+7.1f%%%s\n", e.name.c_str(), e.group_class.c_str(), e.compiler_us, e.model_us,
                100 * e.Error(), e.calibrates ? " *" : "");
  }
}

void PrintSummary(const char* title, const std::vector<ChipEstimate>& estimates) {
  const ErrorSummary s = Summarize(estimates);
  std::printf("%-32s %4d programs, median %.1f %%, 90th percentile %.1f %%, worst %.0f %%, sum x %.2f\n", title, s.count,
              100 * s.median, 100 * s.ninetieth, 100 * s.worst, s.ratio);
}

// Of programs with more than 4 MiB.
void PrintMemory(const char* title, const std::vector<ChipEstimate>& estimates, bool rows) {
  std::vector<double> errors;
  for (const ChipEstimate& e : estimates) {
    if (e.compiler_temporary < 4 << 20) continue;
    errors.push_back(std::abs(e.TemporaryError()));
    if (!rows) continue;
    std::printf("%-32s %12.1f %12.1f %+7.1f%%\n", e.name.c_str(), e.compiler_temporary / (1 << 20),
                e.model_temporary / (1 << 20), 100 * e.TemporaryError());
  }
  std::sort(errors.begin(), errors.end());
  std::printf("%-32s %4zu programs, median %.1f %%, 90th percentile %.1f %%, worst %.0f %%\n", title, errors.size(),
              errors.empty() ? 0 : 100 * errors[errors.size() / 2], errors.empty() ? 0 : 100 * errors[errors.size() * 9 / 10],
              errors.empty() ? 0 : 100 * errors.back());
}

void PrintRates(const char* title, const std::vector<MeasuredRate>& rates) {
  double error = 0;
  std::printf("%-32s %9s %9s\n", title, "measured", "model");
  for (const MeasuredRate& rate : rates) {
    const double own = rate.model / rate.measured - 1;
    std::printf("%-32s %9.1f %9.1f %+6.1f%%\n", rate.name.c_str(), rate.measured, rate.model, 100 * own);
    error += std::abs(own) / static_cast<double>(rates.size());
  }
  std::printf("mean error %.1f %%\n", 100 * error);
}

absl::Status Run() {
  const CoreSpec& core = TpuV3Core();
  const std::string folder = "tests/corpus/tpu_v3";
  ASSIGN_OR_RETURN(const std::vector<ChipEstimate> programs, OneCoreEstimates(folder, true, core));
  ASSIGN_OR_RETURN(const std::vector<ChipEstimate> held_out, OneCoreEstimates(folder + "/held_out", false, core));
  ASSIGN_OR_RETURN(const std::vector<ChipEstimate> unseen, OneCoreEstimates(folder + "/unseen", false, core));
  ASSIGN_OR_RETURN(const std::vector<ChipEstimate> moe, MoeEstimates(folder + "/moe", core));
  PrintRows("One-core programs (* calibrates)", programs);
  PrintRows("\nHeld-out programs", held_out);
  PrintRows("\nPrograms never looked at", unseen);
  PrintRows("\nMoE layers and training steps", moe);
  std::vector<ChipEstimate> third, rest;
  for (const ChipEstimate& e : programs) (e.calibrates ? third : rest).push_back(e);
  std::printf("\n");
  PrintSummary("calibrating third", third);
  PrintSummary("the other two thirds", rest);
  PrintSummary("held out", held_out);
  PrintSummary("never looked at", unseen);
  std::vector<ChipEstimate> others = held_out;
  others.insert(others.end(), unseen.begin(), unseen.end());
  PrintSummary("both together", others);
  std::printf("\nTemporary memory, MiB              compiler        model    error\n");
  PrintMemory("MoE layers and training steps", moe, true);
  PrintMemory("one core", programs, true);
  PrintMemory("held out and never looked at", others, true);
  ASSIGN_OR_RETURN(const std::vector<MeasuredRate> dots, MeasuredDots(core));
  ASSIGN_OR_RETURN(const std::vector<MeasuredRate> elementwise, MeasuredElementwise(core));
  std::printf("\nAs measured (LLMCompass, figure 5), with a launch each\n");
  PrintRates("dots, Tflop/s", dots);
  PrintRates("rows of 4096, 1e9 elements/s", elementwise);
  return absl::OkStatus();
}

}  // namespace
}  // namespace toroid

int main() {
  const absl::Status status = toroid::Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
