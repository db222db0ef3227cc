// The GShard model: an encoder-decoder Transformer in which every second feed-forward layer is a mixture of
// experts.
//
// The programs are annotated as in the paper: inputs split by group over all devices, experts split, gate
// weights replicated, the dispatched tokens split by expert. Propagation finds all other shardings.
//
//   loss = mean over target tokens of -log p(label)
//          + aux_weight * E^2 * mean over groups and MoE layers of aux
//
// Source: GShard, arXiv:2006.16668, Algorithm 1 (gating in groups of S tokens), Algorithm 2 (layer), Table 1
// and appendix A.2 (sizes). Chosen here: sinusoidal positions.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "examples/moe/config.h"
#include "examples/moe/model_builder.h"
#include "hlo/ir/module.h"

namespace toroid {

// s32[G,B,L], cut by group.
struct Batch {
  Value source_tokens;
  Value target_tokens;
  Value labels;
};
// Makes the next three parameters.
Batch BatchParameters(ModelBuilder* m);

struct Losses {
  Value loss;           // f32[]
  Value cross_entropy;  // f32[]: mean of -log p(label), without smoothing, over the labels that count.
  // f32[]: E^2 times the mean of aux, which is 1 if all experts get equally many tokens; 0 without MoE
  // layers.
  Value auxiliary;
  Value tokens;  // f32[]: number of labels that count.
  Value load;    // f32[MoE layers,E]: share of the tokens whose first choice is the expert.
};

// uniform: f32[MoE layers,G,S], draws that keep or drop second experts; null: drawn from the builder's seed.
Losses BuildLosses(const Batch& batch, Value uniform, ModelBuilder* m);

// The forward program. Parameters, in this order (B = sequences, L = sequence_length):
//   source_tokens, target_tokens, labels  s32[G,B,L]
//   uniform                               f32[MoE layers,G,S], draws in [0, 1) that keep or drop second
//                                         experts
//   weights by name ("encoder.layer_1.moe.wi"): the tables, then the layers' in the order of their first use
// Result: f32[], the loss, without dropout and smoothing.
// Errors: those of MoeTransformerConfig::Check.
absl::StatusOr<std::unique_ptr<Module>> BuildMoeTransformer(const MoeTransformerConfig& config);

// One MoE layer alone (Algorithm 2): x [G,S,M], wg [M,E], wi [E,M,H], wo [E,H,M], uniform [G,S] -> (y
// [G,S,M], aux). Result: a tuple of y and the mean of aux over groups.
absl::StatusOr<std::unique_ptr<Module>> BuildMoeLayer(const MoeTransformerConfig& config);

// An encoder layer with dense feed-forward and one with experts: x [G,B,L,M] -> (y [G,B,L,M], aux).
// Parameters: x, uniform [1,G,S], weights by name ("layer_1.moe.wi") in the order of their first use.
absl::StatusOr<std::unique_ptr<Module>> BuildLayerPair(const MoeTransformerConfig& config);

}  // namespace toroid
