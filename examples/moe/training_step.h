// One training step of the MoE Transformer as a program: forward, backward, Adafactor.
//
//   ASSIGN_OR_RETURN(TrainingStep step, BuildTrainingStep(PaperConfig(2048, 36), TrainingOptions()));
//
// Parameters: the state's arrays; then the inputs, seed u32[] and source_tokens, target_tokens, labels
// s32[G,B,L].
// Result: a tuple of the state's arrays after the step, which take the parameters' memory
// (input_output_alias), then the metrics. The random draws of a step depend only on the seed and the step's
// number.
#pragma once

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
  // A new array is drawn from this normal distribution; if stddev is 0, all elements are `mean`.
  double mean = 0;
  double stddev = 0;
};

struct TrainingStep {
  std::unique_ptr<Module> module;   // Annotated, not partitioned.
  std::vector<StateArray> state;    // The step counter s32[], the weights, the optimizer's arrays.
  std::vector<std::string> inputs;  // Names of the parameters after the state.
  // Names of the results after the state: those of Losses (transformer.h).
  std::vector<std::string> metrics;
};

// Which values of the forward pass are kept for the backward pass (hlo/gradient/remat/remat_policy.h).
enum class Remat {
  kNone,       // All values that take work to compute.
  kDots,       // Contractions; all others are recomputed.
  kLayers,     // The inputs of layers.
  kLayerDots,  // The inputs of layers and the contractions in them.
  kFit,        // The inputs of layers and as many other values as fit (hlo/gradient/memory_fit.h).
};
// Parses "none", "dots", "layers", "layer_dots" or "fit".
// Errors: kInvalidArgument for any other word.
absl::StatusOr<Remat> ParseRemat(absl::string_view word);

struct TrainingOptions {
  AdafactorOptions adafactor;
  // If true, no weight changes in a step in which the norm of all gradients together is not finite, as in
  // Lingvo (core/learner.py, ScaleGradients). No update begins before the last gradient is known, so all
  // gradients are in memory at once.
  bool skip_if_not_finite = false;
  Remat remat = Remat::kNone;
  MemoryFit memory_fit;  // For Remat::kFit.
};

// Sets the options of GShard's runs, as far as the paper and its authors' open program tell: tables are
// looked up by products, every core has the whole of the optimizer's averages, no update begins before all
// gradients are known to be finite, and models of kLayersComputedAgain layers or more (published.h), unless
// they are pipelines, recompute each layer from its inputs.
void MakeAsPublished(MoeTransformerConfig* config, TrainingOptions* options);

// Errors: those of MoeTransformerConfig::Check and FitMemory.
absl::StatusOr<TrainingStep> BuildTrainingStep(const MoeTransformerConfig& config,
                                               const TrainingOptions& options);

// Computes the metrics alone, without dropout, smoothing or dropped second experts. Parameters: the weights,
// in the order of the step's state, then source_tokens, target_tokens, labels. Result: a tuple of the
// metrics.
absl::StatusOr<std::unique_ptr<Module>> BuildEvaluation(const MoeTransformerConfig& config);

}  // namespace toroid
