// Step after step: measures, reports, evaluates, saves.
#ifndef TOROID_EXAMPLES_TRAINING_TRAINING_LOOP_H_
#define TOROID_EXAMPLES_TRAINING_TRAINING_LOOP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "examples/training/learning_curve.h"
#include "examples/training/trainer.h"
#include "hlo/ir/literal.h"

namespace toroid {

struct TrainingData {
  // The inputs of a step, 0 and on: by the step alone, so that a run that is resumed sees what it would have seen.
  std::function<std::vector<Literal>(int64_t step)> training;
  // Inputs of evaluations.
  std::vector<std::vector<Literal>> held_out;
};

struct LoopOptions {
  int64_t steps = 1000;           // In all, those before a resumption included.
  int64_t evaluate_every = 100;   // Steps; 0: never. At the end in any case.
  int64_t report_every = 50;      // The same.
  int64_t save_every = 100;       // The same.
  std::string checkpoint;         // A file; none if empty.
  bool resume = false;            // Goes on from the checkpoint.
  std::string loss = "loss";      // The metric that must stay finite, and that is shown.
  std::string weight = "tokens";  // The metric that evaluations are weighted by, if there is one.
  std::function<void(const std::string&)> report;  // Gets lines; may be empty.
  std::vector<std::string> reported;               // Series that lines tell, beside the loss; all if empty.
};

// Trains from wherever `trainer` is. The curve has, for each metric that is a scalar, its value after every step and, as
// held_out_NAME, its mean over evaluations; of a metric f32[R,C] of shares, as NAME_peak, what LoadPeak says.
// A bar is shown on a terminal.
// Errors: those of Trainer, LoadCheckpoint, SaveCheckpoint; kAlreadyExists if a checkpoint is there that is not resumed;
// kDataLoss "step 12: loss is nan ..." (the last checkpoint stays).
absl::StatusOr<LearningCurve> RunTraining(Trainer& trainer, const TrainingData& data,
                                          const LoopOptions& options);

// The means of the metrics over these inputs, weighted.
absl::StatusOr<Metrics> EvaluateAll(Trainer& trainer, absl::Span<const std::vector<Literal>> inputs,
                                    const std::string& weight);

// How much the most loaded of C experts has, as a multiple of an even share: the mean over rows of C * max / sum.
// 1 where all have the same, C where one has all.
double LoadPeak(const Literal& shares);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_TRAINING_TRAINING_LOOP_H_
