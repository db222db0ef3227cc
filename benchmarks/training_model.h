// Training steps of GShard's models, simulated: what the tables and figures about whole models are made of.
//
// The programs are BuildTrainingStep of examples/moe/training_step.h, partitioned and simulated on the TPU v3 slice that has a
// core for each expert. No parameter is set for any of them.
//
// Sequences have 256 tokens, as in figure 8 (figure8_model.h says why); the paper does not give their length. Of the forward
// pass all is kept if that fits into memory; else as much as fits (Remat::kFit) or, where nothing fits into the share of memory
// that programs are compiled for, the inputs of layers (Remat::kLayers).
// Source: GShard, arXiv:2006.16668, tables 1 and 3, figures 1 and 7.
#ifndef TOROID_BENCHMARKS_TRAINING_MODEL_H_
#define TOROID_BENCHMARKS_TRAINING_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/figure8_model.h"
#include "examples/moe/published.h"
#include "examples/moe/training_step.h"

namespace toroid {

struct TrainingProgram {
  int64_t experts, layers;         // Experts 0: the dense T(96L), as PaperConfig("t_96l") has it.
  int64_t tokens_per_core = 2048;  // Of source and of target; a multiple of the 2,048 of a group.
  int64_t sequence_length = kFigure8SequenceLength;
  bool replicated_slots = true;
  std::optional<Remat> remat;  // Empty: as said above.
  // All is kept, and the simulated compiler makes again what does not fit, as XLA's pass of 2020 did: small values too, until arguments
  // and results, donated or not, leave as much as is alive of 95 % of memory (xla_jf_rematerialization_percent_shared_memory_limit, which
  // Google's compiler still states).
  bool by_compiler_alone = false;
};

struct SimulatedTraining {
  MoeTransformerConfig config;
  double weights = 0;         // Of the whole model.
  double expert_weights = 0;  // Of these, in experts.
  Remat remat = Remat::kNone;
  bool fits = true;  // Into a core's memory.
  double step_seconds = 0;
  double communication_share = 0;
  // Of the step's time: what is computed or sent a second time. Of what the simulated compiler makes again also what it only makes later
  // than before, as a profile has it that goes by names.
  double recomputed_share = 0;
  // Of one core, bytes.
  double state_bytes = 0;       // Weights and the optimizer's averages.
  double activation_bytes = 0;  // At the peak, beside state and gradients of weights.
  double gradient_bytes = 0;    // Gradients of weights at the peak.
  double peak_bytes = 0;
  int64_t all_to_alls = 0, all_reduces = 0;  // As sent: several arrays in one count once.
  double seconds_to_predict =
      0;  // Building, differentiating, partitioning and simulating, of the last program.
};

// The share of a pipeline's trips that fill and empty it; 0 for none.
inline double BubbleShare(const MoeTransformerConfig& config) {
  return static_cast<double>(config.stages - 1) /
         static_cast<double>(config.microbatches + config.stages - 1);
}

// What GShard's programs of so many layers compute again: from kLayersComputedAgain on each layer, from its inputs (which
// values theirs were the paper does not say, but that it took more than a quarter of the time); else what memory asks for.
inline std::optional<Remat> PublishedRemat(int64_t layers) {
  return layers >= kLayersComputedAgain ? std::optional<Remat>(Remat::kLayers) : std::nullopt;
}

// Errors: those of building, partitioning and simulating.
absl::StatusOr<SimulatedTraining> SimulateTraining(const TrainingProgram& program);

}  // namespace toroid

#endif  // TOROID_BENCHMARKS_TRAINING_MODEL_H_
