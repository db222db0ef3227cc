// The GShard model: an encoder-decoder Transformer whose every other feed-forward layer is a mixture of
// experts.
//
// Builds the forward program, from token ids to the loss, as the paper annotates it: inputs split by group
// over all devices, experts split, gate weights replicated, the dispatched tokens split by expert;
// propagation finds the rest.
//
//   loss = mean over target tokens of -log p(label) + aux_weight * mean over groups and MoE layers of aux
//
// Source: GShard, arXiv:2006.16668, Algorithm 1 (gating in groups of S tokens), Algorithm 2 (layer), Table 1
// and appendix A.2 (sizes). Layer norm has a scale only and stands before each sublayer, as in the layers that
// the paper's authors published (Lingvo 0.8, core/gshard_builder.py). Chosen here: sinusoidal positions,
// aux_weight 0.01. Dropout is left out.
#ifndef TOROID_EXAMPLES_MOE_TRANSFORMER_MODEL_H_
#define TOROID_EXAMPLES_MOE_TRANSFORMER_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "hlo/ir/builder.h"
#include "hlo/ir/module.h"

namespace toroid {

struct MoeTransformerConfig {
  int64_t devices = 2048;
  int64_t layers = 36;            // Both stacks together; half in each.
  int64_t experts = 2048;         // E, per MoE layer.
  int64_t groups = 2048;          // G
  int64_t sequences = 4;          // Per group.
  int64_t sequence_length = 512;  // S = sequences * sequence_length = 2048 tokens per group.
  int64_t model = 1024;           // M
  int64_t hidden = 8192;          // H, of dense and expert feed-forward layers.
  int64_t heads = 16;             // N
  int64_t head_dim = 128;         // K
  int64_t source_vocabulary = 64000;
  int64_t target_vocabulary = 32000;
  double aux_weight = 0.01;
  // How a token's position in its expert's buffer is counted: by cumulative sums, or by products with a triangular
  // matrix, which Lingvo (core/py_utils.py, CumSum) calls faster on TPUs of 2019.
  bool cumulative_sums_by_products = false;
  PrimitiveType type = xla::F32;  // Weights and activations; the gating is computed in f32.

  int64_t tokens_per_group() const { return sequences * sequence_length; }
  // C = max(1, ceil(2S / E))
  int64_t capacity() const { return std::max<int64_t>(1, (2 * tokens_per_group() + experts - 1) / experts); }
  // Every second feed-forward layer of a stack, from the second on.
  int64_t moe_layers() const { return 2 * (layers / 2 / 2); }
};

// A row of Table 1: experts = groups = devices in {128, 512, 2048}, layers in {12, 36, 60}.
MoeTransformerConfig PaperConfig(int64_t experts, int64_t layers);

// The smallest model that has every part: 2 devices, 4 layers, a handful of everything.
MoeTransformerConfig TinyConfig();

// Parameters, in this order (B = sequences, L = sequence_length):
//   source_tokens, target_tokens, labels  s32[G,B,L]
//   uniform                               f32[MoE layers,G,S], draws in [0, 1) that keep or drop second
//   experts weights by name ("encoder.layer_1.moe.wi"), in the order of their first use
// Result: f32[], the loss.
// Errors: kInvalidArgument unless layers is even and all sizes are positive.
absl::StatusOr<std::unique_ptr<Module>> BuildMoeTransformer(const MoeTransformerConfig& config);

// One MoE layer alone (Algorithm 2): x [G,S,M], wg [M,E], wi [E,M,H], wo [E,H,M], uniform [G,S] -> (y
// [G,S,M], aux). Result: a tuple of y and the mean of aux over groups.
absl::StatusOr<std::unique_ptr<Module>> BuildMoeLayer(const MoeTransformerConfig& config);

// An encoder layer with dense feed-forward and one with experts: x [G,B,L,M] -> (y [G,B,L,M], aux). Parameters: x,
// uniform [1,G,S], weights by name ("layer_1.moe.wi") in the order of their first use.
absl::StatusOr<std::unique_ptr<Module>> BuildLayerPair(const MoeTransformerConfig& config);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_MOE_TRANSFORMER_MODEL_H_
