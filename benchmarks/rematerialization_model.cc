#include "benchmarks/rematerialization_model.h"

#include "absl/strings/match.h"
#include "examples/moe/training_step.h"
#include "hlo/base/status.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/lowering/rematerialization_pass.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

constexpr StepThatDoesNotFit kByCompiler[] = {
    {38, {9, 12, 0.018, 7.89}, {}},   {40, {54, 60, 0.078, 7.44}, {}},   {44, {151, 127, 0.141, 6.89}, {}},
    {46, {193, 134, 0.144, 6.60}, {}}, {48, {304, 171, 0.169, 6.60}, {}}, {50, {392, 186, 0.177, 6.61}, {}},
    {52, {.fits = false}, {}}};

absl::StatusOr<RepeatedWork> Simulated(int64_t layers) {
  MoeTransformerConfig config = PaperConfig(2048, layers);
  config.sequence_length = 256;
  config.sequences = 8;
  config.bf16_scores = false;
  TrainingOptions training_options;
  training_options.adafactor.replicated_slots = true;
  ASSIGN_OR_RETURN(const TrainingStep training, BuildTrainingStep(config, training_options));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*training.module, PartitionOptions()));
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine, LoadMachine("tpu-v3-2048", Rates::kCompiler));
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, options));
  const Prediction& prediction = simulation.prediction;
  RepeatedWork work;
  double computed = 0;
  for (const PredictedGroup& group : prediction.groups) {
    const double milliseconds = static_cast<double>(group.picoseconds) * group.executions * 1e-9;
    computed += milliseconds;
    if (!absl::StrContains(group.instruction, kRematerializedSuffix)) continue;
    ++work.values;
    work.milliseconds += milliseconds;
  }
  work.share = work.milliseconds / computed;
  work.gibibytes = static_cast<double>(prediction.memory.temporary) / (1 << 30);
  work.fits = prediction.memory.allocated <= prediction.memory.capacity;
  return work;
}

}  // namespace

absl::StatusOr<std::vector<StepThatDoesNotFit>> SimulateStepsThatDoNotFit(int64_t most_layers) {
  std::vector<StepThatDoesNotFit> steps;
  for (StepThatDoesNotFit step : kByCompiler) {
    if (step.layers > most_layers) continue;
    ASSIGN_OR_RETURN(step.ours, Simulated(step.layers));
    steps.push_back(step);
  }
  return steps;
}

}  // namespace toroid
