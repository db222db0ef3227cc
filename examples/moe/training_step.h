// One training step of the MoE Transformer as a program: forward, backward, Adafactor.
//
//   ASSIGN_OR_RETURN(TrainingStep step, BuildTrainingStep(PaperConfig(2048, 36), TrainingOptions()));
//
// Parameters: the state's arrays; then the inputs, seed u32[] and source_tokens, target_tokens, labels s32[G,B,L].
// Result: a tuple of the state's arrays after the step, whose memory is that of the parameters (input_output_alias), then the
// metrics. The draws of a step depend on the seed and the step's number alone.
#ifndef TOROID_EXAMPLES_MOE_TRAINING_STEP_H_
#define TOROID_EXAMPLES_MOE_TRAINING_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "examples/moe/adafactor.h"
#include "examples/moe/config.h"
#include "hlo/gradient/memory_fit.h"
#include "hlo/ir/module.h"

namespace toroid {

struct StateArray {
  enum class Kind { kStepCounter, kWeight, kSlot };
  std::string name;  // "step", "encoder.layer_1.moe.wi", "encoder.layer_1.moe.wi.row"
  Kind kind;
  Shape shape;
  // What a fresh array is drawn from: a normal distribution; all elements are `mean` where `stddev` is 0.
  double mean = 0;
  double stddev = 0;
};

struct TrainingStep {
  std::unique_ptr<Module> module;   // Annotated, not partitioned.
  std::vector<StateArray> state;    // The step counter s32[], the weights, the optimizer's arrays.
  std::vector<std::string> inputs;  // Names of the parameters behind the state.
  std::vector<std::string>
      metrics;  // Names of the results behind the state: those of Losses (transformer.h).
};

// What of the forward pass is kept for the backward pass (hlo/gradient/remat_policy.h).
enum class Remat {
  kNone,       // All that takes work.
  kDots,       // Contractions; all else is computed again.
  kLayers,     // The inputs of layers.
  kLayerDots,  // The inputs of layers and the contractions in them.
  kFit,        // The inputs of layers and as much more as fits (hlo/gradient/memory_fit.h).
};
// "none", "dots", "layers", "layer_dots", "fit".
// Errors: kInvalidArgument for another word.
absl::StatusOr<Remat> ParseRemat(absl::string_view word);

struct TrainingOptions {
  AdafactorOptions adafactor;
  // No weight changes in a step in which the norm of all gradients together is not finite, as in Lingvo (core/learner.py,
  // ScaleGradients). No update begins before the last gradient is there: in the meantime all gradients take memory.
  bool skip_if_not_finite = false;
  Remat remat = Remat::kNone;
  MemoryFit memory_fit;  // Of kFit.
};

// The step of GShard's runs, as far as the paper and its authors' open program tell: tables looked up by products, the optimizer's
// averages whole on every core, no update before all gradients are known to be finite, and each layer computed again from its inputs
// in models of kLayersComputedAgain layers and more (published.h), unless they are pipelines.
void MakeAsPublished(MoeTransformerConfig* config, TrainingOptions* options);

// Errors: those of MoeTransformerConfig::Check and FitMemory.
absl::StatusOr<TrainingStep> BuildTrainingStep(const MoeTransformerConfig& config,
                                               const TrainingOptions& options);

// The metrics alone, without dropout, smoothing or dropped second experts: parameters are the weights, in the order of the
// step's state, then source_tokens, target_tokens, labels; the result is a tuple of the metrics.
absl::StatusOr<std::unique_ptr<Module>> BuildEvaluation(const MoeTransformerConfig& config);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_MOE_TRAINING_STEP_H_
