#include "examples/moe/training_step.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "examples/moe/model_builder.h"
#include "examples/moe/published.h"
#include "examples/moe/random_bits.h"
#include "examples/moe/signature.h"
#include "examples/moe/transformer.h"
#include "hlo/base/status.h"
#include "hlo/gradient/copied_options.h"
#include "hlo/gradient/gradient.h"
#include "hlo/gradient/remat/remat_policy.h"
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

// The state's arrays before and after the step.
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

// A program without its backward pass.
struct ForwardPass {
  explicit ForwardPass(const MoeTransformerConfig& config) : m(config, "training_step") {}
  ModelBuilder m;
  Value step, seed;
  Batch batch;
  Losses losses;
};

// `remat`: as in TrainingOptions.
std::unique_ptr<ForwardPass> BuildForward(const MoeTransformerConfig& config, Remat remat) {
  auto forward = std::make_unique<ForwardPass>(config);
  ModelBuilder& m = forward->m;
  Builder& b = m.b();
  forward->step = b.Parameter(Shape(xla::S32, {}), "step");
  forward->seed = b.Parameter(Shape(xla::U32, {}), "seed");
  forward->batch = BatchParameters(&m);
  m.set_seed(SeedOfStep(forward->seed, forward->step, &b));
  m.recomputes_stages() = remat == Remat::kLayers;
  forward->losses = BuildLosses(forward->batch, /*uniform=*/nullptr, &m);
  return forward;
}

// Replaces all gradients by zeros if the norm of all of them together is not finite.
void ZeroIfNotFinite(std::vector<Value>* gradients, Builder* b) {
  Builder::Scope scope(b, "gradient_norm");
  Value squares = nullptr;
  for (Value gradient : *gradients) {
    std::vector<int64_t> all(gradient->shape().rank());
    std::iota(all.begin(), all.end(), 0);
    Value square = b->Sum(b->Multiply(gradient, gradient), all);
    squares = squares == nullptr ? square : b->Add(squares, square);
  }
  Value is_finite = b->Unary(Opcode::kIsFinite, squares);
  for (Value& gradient : *gradients) {
    Value is_kept = b->Broadcast(is_finite, gradient->shape().dims());
    gradient = b->Select(is_kept, gradient, b->FullLike(gradient, 0));
  }
}

absl::StatusOr<State> Update(const TrainingOptions& training, ForwardPass* forward) {
  const AdafactorOptions& options = training.adafactor;
  ModelBuilder* const m = &forward->m;
  Builder& b = m->b();
  const Value loss = forward->losses.loss, step = forward->step;
  std::vector<Value> weights;
  for (const ModelWeight& weight : m->weights()) weights.push_back(weight.value);
  ASSIGN_OR_RETURN(std::vector<Value> gradients, Gradients(loss, weights, m->gradient_options(), &b));
  if (training.skip_if_not_finite) ZeroIfNotFinite(&gradients, &b);
  State state, slots;
  state.Add({.name = "step", .kind = StateArray::Kind::kStepCounter}, step, b.AddNumber(step, 1));
  AdafactorOptions adafactor_options = options;
  // In a pipeline the slots are cut: a stage does not use the averages of other stages.
  adafactor_options.replicated_slots &= m->config().stages == 1;
  Adafactor adafactor(adafactor_options, step, &b);
  for (size_t i = 0; i < weights.size(); ++i) {
    const ModelWeight& weight = m->weights()[i];
    const AdafactorUpdate update = adafactor.Update(weights[i], gradients[i], weight.name);
    state.Add({.name = weight.name,
               .kind = StateArray::Kind::kWeight,
               .mean = weight.mean,
               .stddev = weight.stddev},
              weights[i], update.weight);
    for (const Slot& slot : update.slots) {
      slots.Add({.name = slot.name, .kind = StateArray::Kind::kSlot}, slot.old_value, slot.new_value);
    }
  }
  for (size_t i = 0; i < slots.arrays.size(); ++i)
    state.Add(slots.arrays[i], slots.parameters[i], slots.results[i]);
  return state;
}

// The whole step, differentiated by the forward pass's gradient options.
absl::StatusOr<TrainingStep> Finish(const TrainingOptions& options, ForwardPass* forward) {
  ASSIGN_OR_RETURN(State state, Update(options, forward));
  TrainingStep training;
  training.state = state.arrays;
  training.inputs = {"seed", "source_tokens", "target_tokens", "labels"};
  Metrics metrics = MetricsOf(forward->losses);
  training.metrics = std::move(metrics.names);
  const Batch& batch = forward->batch;
  state.results.insert(state.results.end(), metrics.values.begin(), metrics.values.end());
  state.parameters.insert(state.parameters.end(),
                          {forward->seed, batch.source_tokens, batch.target_tokens, batch.labels});
  Builder& b = forward->m.b();
  ASSIGN_OR_RETURN(training.module, b.Build(b.Tuple(state.results)));
  EliminateDeadCode(training.module.get());
  RETURN_IF_ERROR(NumberParameters(state.parameters, training.module->entry()));
  DonateState(static_cast<int64_t>(training.state.size()), training.module.get());
  return training;
}

absl::Status Fit(const MoeTransformerConfig& config, const TrainingOptions& training, ForwardPass* forward) {
  MemoryFit fit = training.memory_fit;
  const Module& module = *forward->losses.loss->module();
  fit.step = [&](const GradientOptions& options) -> absl::StatusOr<std::unique_ptr<Module>> {
    const std::unique_ptr<ForwardPass> same = BuildForward(config, training.remat);
    same->m.gradient_options() = OptionsInCopy(options, module, *same->losses.loss->module());
    ASSIGN_OR_RETURN(TrainingStep step, Finish(training, same.get()));
    return std::move(step.module);
  };
  std::vector<const Instruction*> by;
  for (const ModelWeight& weight : forward->m.weights()) by.push_back(weight.value);
  return FitMemory(*forward->losses.loss, by, fit, &forward->m.gradient_options()).status();
}

absl::Status ChooseRemat(const MoeTransformerConfig& config, const TrainingOptions& training,
                         ForwardPass* forward) {
  const Remat remat = training.remat;
  ModelBuilder& m = forward->m;
  if (remat == Remat::kDots || remat == Remat::kLayerDots) KeepDots(&m.gradient_options());
  if (remat == Remat::kNone || remat == Remat::kDots) return absl::OkStatus();
  if (config.stages > 1) {
    if (remat == Remat::kLayers) return absl::OkStatus();
    return absl::UnimplementedError("a pipeline can only recompute whole stages; use layers");
  }
  const std::vector<const Instruction*> inputs(m.layer_inputs().begin(), m.layer_inputs().end());
  RETURN_IF_ERROR(KeepLayerInputs(*m.b().computation(), inputs, &m.gradient_options()));
  return remat == Remat::kFit ? Fit(config, training, forward) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<Remat> ParseRemat(absl::string_view word) {
  if (word == "none") return Remat::kNone;
  if (word == "dots") return Remat::kDots;
  if (word == "layers") return Remat::kLayers;
  if (word == "layer_dots") return Remat::kLayerDots;
  if (word == "fit") return Remat::kFit;
  return absl::InvalidArgumentError(
      absl::StrCat("no rematerialization '", word, "': say none, dots, layers, layer_dots or fit"));
}

void MakeAsPublished(MoeTransformerConfig* config, TrainingOptions* options) {
  config->embedding_by_products = true;
  options->adafactor.replicated_slots = true;
  options->skip_if_not_finite = true;
  if (config->layers >= kLayersComputedAgain && config->stages == 1) options->remat = Remat::kLayers;
}

absl::StatusOr<TrainingStep> BuildTrainingStep(const MoeTransformerConfig& config,
                                               const TrainingOptions& options) {
  RETURN_IF_ERROR(config.Check());
  const std::unique_ptr<ForwardPass> forward = BuildForward(config, options.remat);
  RETURN_IF_ERROR(ChooseRemat(config, options, forward.get()));
  return Finish(options, forward.get());
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
