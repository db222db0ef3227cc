// Predicted times beside the estimates of Google's compiler for TPU v3, for programs in tests/corpus/tpu_v3.
//
// Every third one-core program (in the order of names, from the first) calibrates the core's parameters; the
// MoE layers calibrate the parameters for which tpu_v3.textproto says so. The groups of the MoE layers also
// led to rules of fusion and layout, so the figures of the layers are fits. No value was fitted to any other
// program. But rules were found on every batch that is not blind after its first measurement; the manifest of batches
// (tests/corpus/batches.tsv) has the errors of each when it was new.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/program_set.h"
#include "hlo/ir/module.h"
#include "simulator/machines/core.pb.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

struct ChipEstimate {
  std::string name;
  std::string kind;         // Of model or step (program_set.h).
  std::string group_class;  // "": the whole program.
  double compiler_us = 0;
  double model_us = 0;
  double simple_us = 0;  // By plain rules; 0 for parts of programs.
  bool calibrates = false;
  // Bytes beside arguments and results; both 0 if the compiler's are not known.
  double compiler_temporary = 0, model_temporary = 0;

  double Error() const { return model_us / compiler_us - 1; }
  double TemporaryError() const { return model_temporary / compiler_temporary - 1; }
};

// The sum over the groups of the entry, in all and by class (op_class.h).
struct ProgramTime {
  double microseconds = 0;
  double without_estimate = 0;  // Part of `microseconds`: groups that the compiler does not estimate.
  double temporary_bytes = 0;
  std::vector<std::pair<std::string, double>> by_class;  // Sorted.
};
// With `decisions` it is recorded there which rules decided something.
absl::StatusOr<ProgramTime> PredictProgram(const Module& module, const CoreSpec& core,
                                           Decisions* decisions = nullptr);
// The same by the plain rules of simulator/simple, at the full peak of the units: what finer rules must beat.
absl::StatusOr<ProgramTime> PredictSimply(const Module& module, const CoreSpec& core);

// The batch of which every third program calibrates, and the one of scatters, whose estimates are partial.
inline constexpr char kCalibration[] = "calibration", kScatters[] = "scatters";

// The one-core programs of a batch (program_set.h) of which the compiler estimates every group.
absl::StatusOr<std::vector<ChipEstimate>> OneCoreEstimates(const Batch& batch, const CoreSpec& core);

// The programs of a batch of which the compiler estimates only some groups, as those with scatters: gathers, scatters, sorts
// and reshapes outside groups are left out on both sides.
absl::StatusOr<std::vector<ChipEstimate>> PartialEstimates(const Batch& batch, const CoreSpec& core);

// Which partitioner made the program of one device.
enum class PartitionedBy {
  // Google's, which dumped this program: the estimates are for exactly this program.
  kXla,
  // Ours: another program, from the same module.
  kToroid,
};

// MoE layers and training steps: one row for each program's sum, and one for each class. Gathers, scatters,
// sorts and reshapes outside groups are left out, because the compiler does not estimate them.
absl::StatusOr<std::vector<ChipEstimate>> MoeEstimates(const std::string& folder, PartitionedBy partitioner,
                                                       const CoreSpec& core);

struct ErrorSummary {
  int count = 0;
  double median = 0, ninetieth = 0, worst = 0;  // |model / compiler - 1|
  double mean = 0;
  double ratio = 0;  // Sum of the model's times over sum of the compiler's.
};
ErrorSummary Summarize(const std::vector<ChipEstimate>& estimates);
// Of the plain rules' times; nothing is counted where there are none.
ErrorSummary SummarizeSimple(std::vector<ChipEstimate> estimates);

// Dots and elementwise programs measured on a TPU v3 core. The host calls them one by one, so each time
// includes a launch. Source: Zhang et al., LLMCompass, ISCA 2024, figure 5, read off to within 1.5 Tflop/s.
struct MeasuredRate {
  std::string name;
  double measured = 0;  // Tflop/s, or 1e9 elements per second.
  double model = 0;
};
absl::StatusOr<std::vector<MeasuredRate>> MeasuredDots(const CoreSpec& core);
absl::StatusOr<std::vector<MeasuredRate>> MeasuredElementwise(const CoreSpec& core);

}  // namespace toroid
