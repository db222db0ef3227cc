#include "examples/moe/training_step.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "examples/moe/model_builder.h"
#include "examples/moe/random_bits.h"
#include "examples/moe/signature.h"
#include "examples/moe/transformer.h"
#include "hlo/base/status.h"
#include "hlo/gradient/gradient.h"
#include "hlo/gradient/remat_policy.h"
#include "hlo/passes/dce_pass.h"

namespace toroid {
namespace {

struct Metrics {
  std::vector<std::string> names;
  std::vector<Value> values;
};

Metrics MetricsOf(const Losses& losses) {
  return {{"loss", "cross_entropy", "auxiliary", "tokens", "load"},
          {losses.loss, losses.cross_entropy, losses.auxiliary, losses.tokens, losses.load}};
}

// The state before and after the step, side by side.
struct State {
  void Add(StateArray array, Value parameter, Value result) {
    array.shape = parameter->shape();
    arrays.push_back(std::move(array));
    parameters.push_back(parameter);
    results.push_back(result);
  }
  std::vector<StateArray> arrays;
  std::vector<Value> parameters, results;
};

absl::Status ChooseRemat(Remat remat, ModelBuilder* m) {
  GradientOptions& options = m->gradient_options();
  if (remat == Remat::kDots || remat == Remat::kLayerDots) KeepDots(&options);
  if (remat != Remat::kLayers && remat != Remat::kLayerDots) return absl::OkStatus();
  const std::vector<const Instruction*> inputs(m->layer_inputs().begin(), m->layer_inputs().end());
  return KeepLayerInputs(*m->b().computation(), inputs, &options);
}

absl::StatusOr<State> Update(Value loss, Value step, const TrainingOptions& options, ModelBuilder* m) {
  Builder& b = m->b();
  std::vector<Value> weights;
  for (const ModelWeight& weight : m->weights()) weights.push_back(weight.value);
  RETURN_IF_ERROR(ChooseRemat(options.remat, m));
  ASSIGN_OR_RETURN(const std::vector<Value> gradients, Gradients(loss, weights, m->gradient_options(), &b));
  State state, slots;
  state.Add({.name = "step", .kind = StateArray::Kind::kStepCounter}, step, b.AddNumber(step, 1));
  Adafactor adafactor(options.adafactor, step, &b);
  for (size_t i = 0; i < weights.size(); ++i) {
    const ModelWeight& weight = m->weights()[i];
    const AdafactorUpdate update = adafactor.Update(weights[i], gradients[i], weight.name);
    state.Add({.name = weight.name, .kind = StateArray::Kind::kWeight, .mean = weight.mean, .stddev = weight.stddev},
              weights[i], update.weight);
    for (const Slot& slot : update.slots) {
      slots.Add({.name = slot.name, .kind = StateArray::Kind::kSlot}, slot.old_value, slot.new_value);
    }
  }
  for (size_t i = 0; i < slots.arrays.size(); ++i) state.Add(slots.arrays[i], slots.parameters[i], slots.results[i]);
  return state;
}

}  // namespace

absl::StatusOr<Remat> ParseRemat(absl::string_view word) {
  if (word == "none") return Remat::kNone;
  if (word == "dots") return Remat::kDots;
  if (word == "layers") return Remat::kLayers;
  if (word == "layer_dots") return Remat::kLayerDots;
  return absl::InvalidArgumentError(
      absl::StrCat("no rematerialization '", word, "': say none, dots, layers or layer_dots"));
}

absl::StatusOr<TrainingStep> BuildTrainingStep(const MoeTransformerConfig& config, const TrainingOptions& options) {
  RETURN_IF_ERROR(config.Check());
  ModelBuilder m(config, "training_step");
  Builder& b = m.b();
  Value step = b.Parameter(Shape(xla::S32, {}), "step");
  Value seed = b.Parameter(Shape(xla::U32, {}), "seed");
  const Batch batch = BatchParameters(&m);
  m.set_seed(SeedOfStep(seed, step, &b));
  const Losses losses = BuildLosses(batch, /*uniform=*/nullptr, &m);
  ASSIGN_OR_RETURN(State state, Update(losses.loss, step, options, &m));

  TrainingStep training;
  training.state = state.arrays;
  training.inputs = {"seed", "source_tokens", "target_tokens", "labels"};
  Metrics metrics = MetricsOf(losses);
  training.metrics = std::move(metrics.names);
  state.results.insert(state.results.end(), metrics.values.begin(), metrics.values.end());
  state.parameters.insert(state.parameters.end(), {seed, batch.source_tokens, batch.target_tokens, batch.labels});
  ASSIGN_OR_RETURN(training.module, b.Build(b.Tuple(state.results)));
  EliminateDeadCode(training.module.get());
  RETURN_IF_ERROR(NumberParameters(state.parameters, training.module->entry()));
  DonateState(static_cast<int64_t>(training.state.size()), training.module.get());
  return training;
}

absl::StatusOr<std::unique_ptr<Module>> BuildEvaluation(const MoeTransformerConfig& config) {
  RETURN_IF_ERROR(config.Check());
  ModelBuilder m(config, "evaluation");
  const Batch batch = BatchParameters(&m);
  const Losses losses = BuildLosses(batch, /*uniform=*/nullptr, &m);
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, m.b().Build(m.b().Tuple(MetricsOf(losses).values)));
  EliminateDeadCode(module.get());
  std::vector<Value> parameters;
  for (const ModelWeight& weight : m.weights()) parameters.push_back(weight.value);
  parameters.insert(parameters.end(), {batch.source_tokens, batch.target_tokens, batch.labels});
  RETURN_IF_ERROR(NumberParameters(parameters, module->entry()));
  return module;
}

}  // namespace toroid
