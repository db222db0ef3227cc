// Layers of a Transformer on activations x [G,B,L,M], except the mixture of experts.
//
// Layer norm has only a scale and comes before each sublayer, as in the layers that the paper's authors
// published (Lingvo 0.8, core/gshard_builder.py).
#pragma once

#include <string>

#include "examples/moe/model_builder.h"

namespace toroid {

// x / sqrt(mean of x^2 + 1e-6) * scale, over M, in f32.
Value LayerNorm(Value x, const std::string& name, ModelBuilder* m);

struct AttentionMask {
  bool is_causal = false;   // Position l sees t <= l.
  Value present = nullptr;  // pred[G,B,T], false for padding of the memory; null if there is none.
  Value visible = nullptr;  // pred[G,B,L,T]: position l sees t; null if there is no other restriction.
};

// Keys and values of the memory, [G,B,T,N,K] each.
struct KeysAndValues {
  Value keys, values;
};

// x attends to memory [G,B,T,M]. Weights NAME.wq, wk, wv [M,N,K], wo [N,K,M].
Value Attention(Value x, Value memory, const AttentionMask& mask, const std::string& name, ModelBuilder* m);

// The parts of attention, for keys and values that are kept: they use NAME.wq; NAME.wk and NAME.wv; NAME.wo.
Value Queries(Value x, const std::string& name, ModelBuilder* m);
KeysAndValues KeysAndValuesOf(Value memory, const std::string& name, ModelBuilder* m);
Value Attend(Value queries, const KeysAndValues& memory, const AttentionMask& mask, const std::string& name,
             ModelBuilder* m);

// relu(x wi) wo. Weights NAME.ffn.wi [M,H], NAME.ffn.wo [H,M].
Value DenseFeedForward(Value x, const std::string& name, ModelBuilder* m);

// Rows of a table [V,M] for tokens s32[G,B,L], times sqrt(M), plus sinusoids: sin(l / 10000^(2i/M)) in the
// first half of M, cos in the second.
Value Embed(Value table, Value tokens, ModelBuilder* m);
// The same for tokens that are all at one position, s32[].
Value EmbedAt(Value position, Value table, Value tokens, ModelBuilder* m);

// The loss of each token, f32[G,B,L], for logits x softmax^T, softmax: [V,M].
struct TokenCosts {
  Value exact;     // -log p(label)
  Value smoothed;  // (1 - smoothing) * exact + smoothing * mean over V of -log p
};
TokenCosts CrossEntropy(Value x, Value softmax, Value labels, double smoothing, ModelBuilder* m);

}  // namespace toroid
