// Runs training steps: measures, reports, evaluates, saves.
#pragma once

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
  // The inputs of a step; the first step is 0. They depend on the step alone, so a resumed run sees the same
  // inputs as an uninterrupted one.
  std::function<std::vector<Literal>(int64_t step)> training;
  // Inputs of evaluations.
  std::vector<std::vector<Literal>> held_out;
};

struct LoopOptions {
  int64_t steps = 1000;                            // In all, including those before a resumption.
  int64_t evaluate_every = 100;                    // Steps; 0: never. The end is always evaluated.
  int64_t report_every = 50;                       // Likewise.
  int64_t save_every = 100;                        // Likewise.
  std::string checkpoint;                          // A file; none if empty.
  bool resume = false;                             // Continues from the checkpoint.
  std::string loss = "loss";                       // The metric that is shown, and that must stay finite.
  std::string weight = "tokens";                   // The metric that weights evaluations, if it exists.
  std::function<void(const std::string&)> report;  // Gets lines; may be empty.
  std::vector<std::string> reported;               // Series shown in lines, beside the loss; all if empty.
};

// Trains from the trainer's current step. The curve has, for each scalar metric, its value after every step
// and, as held_out_NAME, its mean over evaluations; for a metric f32[R,C] of shares it has LoadPeak as
// NAME_peak. Shows a bar on a terminal.
// Errors: those of Trainer, LoadCheckpoint, SaveCheckpoint; kAlreadyExists if a checkpoint exists and is not
// resumed; kDataLoss "step 12: loss is nan ..." (the last checkpoint stays).
absl::StatusOr<LearningCurve> RunTraining(Trainer& trainer, const TrainingData& data,
                                          const LoopOptions& options);

// The weighted means of the metrics over these inputs.
absl::StatusOr<Metrics> EvaluateAll(Trainer& trainer, absl::Span<const std::vector<Literal>> inputs,
                                    const std::string& weight);

// The load of the most loaded of C experts, as a multiple of an even share: the mean over rows of C * max /
// sum. 1 if all have the same load, C if one has all.
double LoadPeak(const Literal& shares);

}  // namespace toroid
