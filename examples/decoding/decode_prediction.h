// What one decoding step of a full-size model costs on a TPU v3 pod, predicted.
#ifndef TOROID_EXAMPLES_DECODING_DECODE_PREDICTION_H_
#define TOROID_EXAMPLES_DECODING_DECODE_PREDICTION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "simulator/report/prediction.h"

namespace toroid {

struct DecodePredictionOptions {
  std::string model = "2048e_36l";  // Of Table 1.
  int64_t sentences = 4;            // Per core.
  int64_t beam = 4;
  int64_t steps =
      512;  // Words of a sentence at most, for which there is room on the mesh; also of the source.
  // Places of an expert for the tokens of a core. None: twice an even share, at least 1, as in training; 0: room for all.
  std::optional<int64_t> capacity;
};

struct DecodePrediction {
  Prediction prediction;
  std::string machine;
  int64_t cores = 0, sentences = 0;  // Of the whole pod: a step gives a word of each sentence.
  int64_t capacity = 0;
  double tokens_per_second = 0;
  double build_seconds = 0, partition_seconds = 0, simulate_seconds = 0;
};

// Errors: those of PaperConfig, BuildDecodeStep, PartitionModule, LoadMachine and Simulate.
absl::StatusOr<DecodePrediction> PredictDecoding(const DecodePredictionOptions& options);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_DECODING_DECODE_PREDICTION_H_
