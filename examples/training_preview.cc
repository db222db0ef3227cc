#include "examples/training_preview.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "examples/moe/training_step.h"
#include "examples/training/moe_training.h"
#include "examples/training/training_loop.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

constexpr double kGiB = 1 << 30;
constexpr int64_t kSequenceLength = 256;
constexpr int64_t kShortSteps = 200, kShortExperts = 8;
constexpr int64_t kLastSteps = 20;  // The last loss is the mean of these many steps.

}  // namespace

absl::StatusOr<PredictedTrainingStep> PredictTrainingStep(int64_t experts, int64_t layers) {
  PredictedTrainingStep step;
  step.config = PaperConfig(experts, layers);
  step.config.sequences = step.config.tokens_per_group() / kSequenceLength;
  step.config.sequence_length = kSequenceLength;
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine, LoadMachine(absl::StrCat("tpu-v3-", experts), Rates::kMeasured));
  TrainingOptions training_options;
  MakeAsPublished(&step.config, &training_options);
  ASSIGN_OR_RETURN(const TrainingStep training, BuildTrainingStep(step.config, training_options));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*training.module, PartitionOptions()));
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, options));
  const Prediction& prediction = simulation.prediction;
  step.seconds = static_cast<double>(prediction.step_ps) * 1e-12;
  step.communication_share = prediction.communication_share;
  step.allocated_bytes = static_cast<double>(prediction.memory.allocated);
  step.state_bytes = static_cast<double>(prediction.memory.state);
  return step;
}

std::string TrainingStepsText(absl::Span<const PredictedTrainingStep> steps) {
  std::string text = absl::StrFormat(
      "One training step on TPU v3 (forward, backward, Adafactor), predicted at measured rates:\n\n"
      "  %-16s %9s %14s %10s %10s\n",
      "model", "step", "communication", "weights", "memory");
  for (const PredictedTrainingStep& step : steps) {
    absl::StrAppendFormat(&text, "  %-16s %6.0f ms %12.1f %% %6.1f GiB %6.1f GiB\n",
                          absl::StrFormat("MoE(%dE, %dL)", step.config.experts, step.config.layers),
                          step.seconds * 1e3, step.communication_share * 100, step.state_bytes / kGiB,
                          step.allocated_bytes / kGiB);
  }
  return text +
         "\n  Per core: weights include the optimizer's averages, memory includes activations and gradients. Models of 36\n"
         "  layers compute each layer again in the backward pass. Beside GShard's figures: bazel run -c opt //benchmarks:paper\n\n";
}

absl::StatusOr<std::string> ShortTrainingText(uint64_t seed) {
  MoeTrainingOptions options = SmallMoeTraining(kShortExperts);
  options.model.groups = kShortExperts;
  options.trainer.seed = options.task.seed = seed;
  std::string says;
  ASSIGN_OR_RETURN(const std::unique_ptr<MoeTraining> training, MoeTraining::Create(options, &says));
  if (!says.empty()) says += "\n\n";
  LoopOptions loop;
  loop.steps = kShortSteps;
  loop.report_every = loop.evaluate_every = 0;
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const LearningCurve curve, RunTraining(training->trainer(), training->Data(), loop));
  const auto series = [&](absl::string_view name) {
    const LearningCurve::Series* found = curve.Find(name);
    return found == nullptr ? LearningCurve::Series() : Smoothed(*found, kLastSteps);
  };
  const LearningCurve::Series trained = series("cross_entropy"), held_out = series("held_out_cross_entropy");
  if (trained.points.empty() || held_out.points.empty())
    return absl::InternalError("a training run without losses");
  return absl::StrFormat(
      "%sA small model (%d experts on as many simulated devices) that learns to translate names to English by characters, %.2f s:\n\n"
      "  cross entropy per character: %.1f at the first of %d steps, %.1f in the last %d; names held out %.1f\n"
      "  Longer, with more experts, decoding names at the end: bazel run -c opt //examples:moe_transformer -- --train\n",
      says, static_cast<int>(kShortExperts), watch.Seconds(), trained.points.front().value,
      static_cast<int>(kShortSteps), trained.points.back().value, static_cast<int>(kLastSteps),
      held_out.points.back().value);
}

}  // namespace toroid
