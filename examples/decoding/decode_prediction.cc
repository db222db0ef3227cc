#include "examples/decoding/decode_prediction.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "examples/moe/config.h"
#include "examples/moe/decode_step.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"

namespace toroid {

absl::StatusOr<DecodePrediction> PredictDecoding(const DecodePredictionOptions& options) {
  ASSIGN_OR_RETURN(MoeTransformerConfig config, PaperConfig(options.model));
  config.sequences = options.sentences;
  config.sequence_length = options.steps;
  DecodeOptions decode;
  decode.search.beam = options.beam;
  decode.steps = options.steps;
  MoeTransformerConfig of_step = config;
  of_step.sequence_length = options.beam;
  decode.step_capacity = options.capacity.value_or(of_step.capacity());
  DecodePrediction result;
  result.capacity = decode.step_capacity > 0 ? decode.step_capacity : of_step.tokens_per_group();
  result.cores = config.devices;
  result.sentences = config.groups * config.sequences;
  result.machine = absl::StrCat("tpu-v3-", config.devices);

  SimulationOptions simulation_options;
  ASSIGN_OR_RETURN(simulation_options.machine, LoadMachine(result.machine, Rates::kMeasured));
  Stopwatch watch;
  ASSIGN_OR_RETURN(const DecodeStep step, BuildDecodeStep(config, decode));
  result.build_seconds = watch.Seconds();
  watch = Stopwatch();
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*step.module, PartitionOptions()));
  result.partition_seconds = watch.Seconds();
  watch = Stopwatch();
  ASSIGN_OR_RETURN(Simulation simulation, Simulate(*partitioned.module, simulation_options));
  result.simulate_seconds = watch.Seconds();
  result.prediction = std::move(simulation.prediction);
  result.tokens_per_second =
      static_cast<double>(result.sentences) / (static_cast<double>(result.prediction.step_ps) * 1e-12);
  return result;
}

}  // namespace toroid
