// The part of moe_transformer on training: predicted steps of the full-size models, and a small model that
// learns.
#pragma once

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
  double allocated_bytes = 0;  // Per core.
  double state_bytes = 0;      // Part of allocated_bytes: weights and the optimizer's averages.
};

// Predicts forward, backward and Adafactor of the paper's model with `experts` experts on as many TPU v3
// cores, each with 2,048 source and 2,048 target tokens, in sequences of 256.
// Errors: kNotFound if TPU v3 has no slice of as many cores; those of building, partitioning and simulating.
absl::StatusOr<PredictedTrainingStep> PredictTrainingStep(int64_t experts, int64_t layers);

// A table of predictions beside GShard's measurements.
std::string TrainingStepsText(absl::Span<const PredictedTrainingStep> steps);

// Trains a model of 8 experts on 8 simulated devices for some seconds; returns lines that say how well it
// learnt.
// Errors: those of MoeTraining and RunTraining.
absl::StatusOr<std::string> ShortTrainingText(uint64_t seed);

}  // namespace toroid
