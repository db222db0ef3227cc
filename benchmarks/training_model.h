// Simulates training steps of GShard's models, for the tables and figures about whole models.
//
// The programs are BuildTrainingStep of examples/moe/training_step.h, partitioned and simulated on the TPU v3
// slice with one core per expert. No parameter is set for any of them.
//
// Sequences have 256 tokens, as in figure 8 (figure8_model.h explains why); the paper does not give their
// length. The forward pass keeps all values if they fit into memory; else as many as fit (Remat::kFit) or, if
// nothing fits into the share of memory that programs are compiled for, the inputs of layers
// (Remat::kLayers).
// Source: GShard, arXiv:2006.16668, tables 1 and 3, figures 1 and 7.
#pragma once

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
  int64_t experts, layers;         // 0 experts: the dense T(96L) of PaperConfig("t_96l").
  int64_t tokens_per_core = 2048;  // Source and target tokens each; a multiple of a group's 2,048.
  int64_t sequence_length = kFigure8SequenceLength;
  bool replicated_slots = true;
  std::optional<Remat> remat;  // nullopt: chosen as described above.
  // If true, all values are kept, and the simulated compiler rematerializes those that do not fit, as XLA's
  // pass of 2020 did: small values too, until the live bytes fit into 95 % of memory less arguments and
  // results, donated or not (xla_jf_rematerialization_percent_shared_memory_limit, which Google's compiler
  // still states).
  bool by_compiler_alone = false;
};

struct SimulatedTraining {
  MoeTransformerConfig config;
  double weights = 0;         // In the whole model.
  double expert_weights = 0;  // Part of `weights`: in experts.
  Remat remat = Remat::kNone;
  bool fits = true;  // Into a core's memory.
  double step_seconds = 0;
  double communication_share = 0;
  // Share of the step's time for values that are computed or sent a second time. For values that the
  // simulated compiler rematerializes it includes values that are only made later than before, as in a
  // profile that goes by names.
  double recomputed_share = 0;
  // Bytes per core.
  double state_bytes = 0;       // Weights and the optimizer's averages.
  double activation_bytes = 0;  // At the peak, beside state and gradients.
  double gradient_bytes = 0;    // Gradients of weights at the peak.
  double peak_bytes = 0;
  int64_t all_to_alls = 0, all_reduces = 0;  // Counted as sent: a collective of several arrays counts once.
  // Time to build, differentiate, partition and simulate the last program.
  double seconds_to_predict = 0;
};

// The share of a pipeline's trips that fill and empty it; 0 without a pipeline.
inline double BubbleShare(const MoeTransformerConfig& config) {
  return static_cast<double>(config.stages - 1) /
         static_cast<double>(config.microbatches + config.stages - 1);
}

// Which values GShard's programs of so many layers recompute: from kLayersComputedAgain layers on, each layer
// from its inputs (the paper does not say which values it recomputes, only that this took more than a quarter
// of the time); else chosen by memory.
inline std::optional<Remat> PublishedRemat(int64_t layers) {
  return layers >= kLayersComputedAgain ? std::optional<Remat>(Remat::kLayers) : std::nullopt;
}

// Errors: those of building, partitioning and simulating.
absl::StatusOr<SimulatedTraining> SimulateTraining(const TrainingProgram& program);

}  // namespace toroid
