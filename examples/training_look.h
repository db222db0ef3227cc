// What moe_transformer shows of training: steps of the full-size models predicted, and a small model that learns.
#ifndef TOROID_EXAMPLES_TRAINING_LOOK_H_
#define TOROID_EXAMPLES_TRAINING_LOOK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "examples/moe/config.h"

namespace toroid {

struct PredictedTrainingStep {
  MoeTransformerConfig config;
  double seconds = 0, communication_share = 0;
  double allocated_bytes = 0;  // Of a core.
  double state_bytes = 0;      // Of these, weights and the optimizer's averages.
};

// Forward, backward and Adafactor of the paper's model with so many experts on as many TPU v3 cores, 2,048 tokens of source and
// of target for each, in sequences of 256.
// Errors: kNotFound if TPU v3 has no slice of as many cores; those of building, partitioning and simulating.
absl::StatusOr<PredictedTrainingStep> PredictTrainingStep(int64_t experts, int64_t layers);

// A table, beside what GShard measured.
std::string TrainingStepsText(absl::Span<const PredictedTrainingStep> steps);

// Trains a model of 8 experts on 8 simulated devices for some seconds; lines that say what it learnt.
// Errors: those of MoeTraining and RunTraining.
absl::StatusOr<std::string> ShortTrainingText(uint64_t seed);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_TRAINING_LOOK_H_
