// Predicts the cost of one decoding step of a full-size model on a TPU v3 pod.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "simulator/prediction/prediction.h"

namespace toroid {

struct DecodePredictionOptions {
  std::string model = "2048e_36l";  // A model of Table 1.
  int64_t sentences = 4;            // Per core.
  int64_t beam = 4;
  // Most words of a sentence and of its source; the mesh has room for this many.
  int64_t steps = 512;
  // Places in an expert's buffer for the tokens of a core. nullopt: twice an even share, at least 1, as in
  // training; 0: room for all.
  std::optional<int64_t> capacity;
};

struct DecodePrediction {
  Prediction prediction;
  std::string machine;
  int64_t cores = 0, sentences = 0;  // The whole pod; a step gives one word of each sentence.
  int64_t capacity = 0;
  double tokens_per_second = 0;
  double build_seconds = 0, partition_seconds = 0, simulate_seconds = 0;
};

// Errors: those of PaperConfig, BuildDecodeStep, PartitionModule, LoadMachine and Simulate.
absl::StatusOr<DecodePrediction> PredictDecoding(const DecodePredictionOptions& options);

}  // namespace toroid
