// Predicted times beside the estimates of Google's compiler for TPU v3, for programs in tests/corpus/tpu_v3.
//
// Calibrated were parameters on every third of the one-core programs (in the order of their names, from the first), and
// those that tpu_v3_core.textproto says on the MoE layers, whose groups were also looked at for the rules of fusion and
// layout: the figures of the layers are fits. The other two thirds were seen while rules were found, never fitted; programs
// in held_out were made after the first rules, those in unseen and later after those found on them, and what missed by most led
// to further rules: all were seen, as were those in last and blind, and those in neighbours, which were made on the way. Those in
// fresh were made after that. Nothing was mended on those in libraries and practitioners. docs/machine_model.md says how each set did
// when it was new.
#ifndef TOROID_BENCHMARKS_CHIP_ESTIMATES_H_
#define TOROID_BENCHMARKS_CHIP_ESTIMATES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

struct ChipEstimate {
  std::string name;
  std::string group_class;  // "" for all of a program.
  double compiler_us = 0;
  double model_us = 0;
  bool calibrates = false;
  // Bytes beside arguments and results; both 0 where the compiler's are not known.
  double compiler_temporary = 0, model_temporary = 0;

  double Error() const { return model_us / compiler_us - 1; }
  double TemporaryError() const { return model_temporary / compiler_temporary - 1; }
};

// The sum over the groups of the entry, and by class (op_class.h).
struct ProgramTime {
  double microseconds = 0;
  double without_estimate = 0;  // Of these, of groups to which the compiler gives none.
  double temporary_bytes = 0;
  std::vector<std::pair<std::string, double>> by_class;  // Sorted.
};
absl::StatusOr<ProgramTime> PredictProgram(const Module& module, const CoreSpec& core);

// The one-core programs of `folder` for which the compiler estimates all groups: tests/corpus/tpu_v3, of which a third
// calibrates, or another folder there, of which none does.
absl::StatusOr<std::vector<ChipEstimate>> OneCoreEstimates(const std::string& folder, bool third_calibrates,
                                                           const CoreSpec& core);

// Whose program of one device is looked at.
enum class PartitionedBy {
  kXla,  // What Google's compiler's partitioner left, dumped by it: the very program whose estimates these are.
  kToroid,  // Another one, for the same module.
};

// MoE layers and training steps: a row for the sum of each, and one for each class. Gathers, scatters, sorts and reshapes by
// themselves, to which the compiler gives no estimate, are left out.
absl::StatusOr<std::vector<ChipEstimate>> MoeEstimates(const std::string& folder, PartitionedBy partitioner,
                                                       const CoreSpec& core);

struct ErrorSummary {
  int count = 0;
  double median = 0, ninetieth = 0, worst = 0;  // Of |model / compiler - 1|.
  double ratio = 0;                             // Of the sums.
};
ErrorSummary Summarize(const std::vector<ChipEstimate>& estimates);

// Dots and elementwise programs as measured on a TPU v3 core, called one by one from the host: a launch is part of each.
// Source: Zhang et al., LLMCompass, ISCA 2024, figure 5, read off to 1.5 Tflop/s.
struct MeasuredRate {
  std::string name;
  double measured = 0;  // Tflop/s, or 1e9 elements per second.
  double model = 0;
};
absl::StatusOr<std::vector<MeasuredRate>> MeasuredDots(const CoreSpec& core);
absl::StatusOr<std::vector<MeasuredRate>> MeasuredElementwise(const CoreSpec& core);

}  // namespace toroid

#endif  // TOROID_BENCHMARKS_CHIP_ESTIMATES_H_
