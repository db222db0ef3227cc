#include "examples/moe/layers.h"

#include <cmath>

#include "examples/moe/softmax.h"

namespace toroid {
namespace {

// Attention scores of each query position for each memory position: f32[G,B,N,L,T].
Value Scores(Value query, Value key, const AttentionMask& mask, ModelBuilder* m) {
  Builder& b = m->b();
  query = b.MultiplyNumber(query, 1.0 / std::sqrt(static_cast<double>(m->config().head_dim)));
  Value scores = b.Einsum("GBLNK,GBTNK->GBNLT", query, key);
  if (m->config().bf16_scores) scores = b.Convert(scores, xla::BF16);
  scores = b.Convert(scores, xla::F32);
  const Sizes gbnlt = SizesOf(scores);
  const int64_t l = gbnlt[3], t = gbnlt[4];
  Value visible = nullptr;
  if (mask.is_causal) {
    visible =
        m->Spread(b.Compare(b.Iota(xla::S32, {l, t}, 0), b.Iota(xla::S32, {l, t}, 1), "GE"), gbnlt, {3, 4});
  }
  if (mask.present != nullptr) {
    Value present = m->Spread(mask.present, gbnlt, {0, 1, 4});
    visible = visible == nullptr ? present : b.And(visible, present);
  }
  if (mask.visible != nullptr) {
    Value seen = m->Spread(mask.visible, gbnlt, {0, 1, 3, 4});
    visible = visible == nullptr ? seen : b.And(visible, seen);
  }
  return visible == nullptr ? scores : b.Select(visible, scores, b.FullLike(scores, -1e9));
}

Value Project(const char* einsum, Value x, const Sizes& dims, int64_t fan_in, const std::string& weight,
              ModelBuilder* m) {
  Builder::Scope scope(&m->b(), "projections");
  return m->b().Einsum(einsum, x, m->Activation(m->Weight(dims, weight, fan_in)));
}

// Rows of the table for tokens [G,B,L]: [G,B,L,M].
Value LookUp(Value table, Value tokens, ModelBuilder* m) {
  Builder& b = m->b();
  if (!m->config().embedding_by_products) return m->Activation(b.GatherRows(table, tokens));
  Sizes dims = SizesOf(tokens);
  dims.push_back(table->shape().dim(0));
  Value is_token = b.Compare(b.Iota(xla::S32, dims, 3), m->Spread(tokens, dims, {0, 1, 2}), "EQ");
  return b.Einsum("VM,GBLV->GBLM", m->Activation(table), m->Activation(is_token));
}

// Rows of the table for tokens [..,L], times sqrt(M), plus sinusoids. positions: f32[L,M], equal along M.
Value EmbedWithPositions(Value table, Value tokens, Value positions, ModelBuilder* m) {
  Builder& b = m->b();
  const int64_t size = table->shape().dim(1);
  Sizes dims = SizesOf(tokens);
  const int64_t l = dims.back();
  dims.push_back(size);
  Value rows = LookUp(table, tokens, m);
  Value x = b.MultiplyNumber(rows, std::sqrt(static_cast<double>(size)));
  Value column = b.Iota(xla::F32, {l, size}, 1);
  Value half = b.FullLike(column, static_cast<double>(size) / 2);
  Value first = b.Compare(column, half, "LT");
  Value index = b.Select(first, column, b.Subtract(column, half));
  Value rate = b.Exp(b.MultiplyNumber(index, -2.0 * std::log(10000.0) / static_cast<double>(size)));
  Value angle = b.Multiply(positions, rate);
  Value sinusoids =
      m->Activation(b.Select(first, b.Unary(Opcode::kSin, angle), b.Unary(Opcode::kCos, angle)));
  return b.Add(x, m->Spread(sinusoids, dims, {2, 3}));
}

}  // namespace

Value LayerNorm(Value x, const std::string& name, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "layer_norm");
  const Sizes dims = SizesOf(x);
  const int64_t size = dims[3];
  Value wide = b.Convert(x, xla::F32);
  Value factor = b.Rsqrt(b.AddNumber(m->MeanOf(b.Multiply(wide, wide), {3}, size), 1e-6));
  Value normal = m->Activation(b.Multiply(wide, m->Spread(factor, dims, {0, 1, 2})));
  return b.Multiply(normal, m->Spread(m->Activation(m->Scale(size, name + ".scale")), dims, {3}));
}

Value Queries(Value x, const std::string& name, ModelBuilder* m) {
  const MoeTransformerConfig& c = m->config();
  return Project("GBLM,MNK->GBLNK", x, {c.model, c.heads, c.head_dim}, c.model, name + ".wq", m);
}

KeysAndValues KeysAndValuesOf(Value memory, const std::string& name, ModelBuilder* m) {
  const MoeTransformerConfig& c = m->config();
  const Sizes dims = {c.model, c.heads, c.head_dim};
  KeysAndValues result;
  result.keys = Project("GBTM,MNK->GBTNK", memory, dims, c.model, name + ".wk", m);
  result.values = Project("GBTM,MNK->GBTNK", memory, dims, c.model, name + ".wv", m);
  return result;
}

Value Attend(Value queries, const KeysAndValues& memory, const AttentionMask& mask, const std::string& name,
             ModelBuilder* m) {
  Builder& b = m->b();
  const int64_t n = m->config().heads, k = m->config().head_dim;
  Value query = queries, key = memory.keys, mixed;
  {
    Builder::Scope scope(&b, "attention");
    Value weights = m->Dropout(m->Activation(LateSoftmax(Scores(query, key, mask, m), m)));
    mixed = b.Einsum("GBNLT,GBTNK->GBLNK", weights, memory.values);
  }
  return Project("GBLNK,NKM->GBLM", mixed, {n, k, m->config().model}, n * k, name + ".wo", m);
}

Value Attention(Value x, Value memory, const AttentionMask& mask, const std::string& name, ModelBuilder* m) {
  Value queries = Queries(x, name, m);
  return Attend(queries, KeysAndValuesOf(memory, name, m), mask, name, m);
}

Value DenseFeedForward(Value x, const std::string& name, ModelBuilder* m) {
  Builder& b = m->b();
  const int64_t model = m->config().model, hidden = m->config().hidden;
  Value h = b.Einsum("GBLM,MH->GBLH", x, m->Activation(m->Weight({model, hidden}, name + ".ffn.wi", model)));
  h = m->HiddenRelu(h);
  return b.Einsum("GBLH,HM->GBLM", h, m->Activation(m->Weight({hidden, model}, name + ".ffn.wo", hidden)));
}

Value Embed(Value table, Value tokens, ModelBuilder* m) {
  Builder::Scope scope(&m->b(), "embed");
  Value positions = m->b().Iota(xla::F32, {tokens->shape().dim(2), table->shape().dim(1)}, 0);
  return EmbedWithPositions(table, tokens, positions, m);
}

Value EmbedAt(Value position, Value table, Value tokens, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "embed");
  Value positions =
      b.Broadcast(b.Convert(position, xla::F32), {tokens->shape().dim(2), table->shape().dim(1)});
  return EmbedWithPositions(table, tokens, positions, m);
}

TokenCosts CrossEntropy(Value x, Value softmax, Value labels, double smoothing, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "loss");
  Value logits = b.Convert(b.Einsum("GBLM,VM->GBLV", x, m->Activation(softmax)), xla::F32);
  const Sizes dims = SizesOf(logits);
  const auto [shifted, log_sum] = ShiftLogits(logits, m);
  Value is_label = b.Compare(b.Iota(xla::S32, dims, 3), m->Spread(labels, dims, {0, 1, 2}), "EQ");
  TokenCosts costs;
  costs.exact = b.Subtract(log_sum, b.Sum(b.Select(is_label, shifted, b.FullLike(shifted, 0)), {3}));
  if (smoothing == 0) {
    costs.smoothed = costs.exact;
    return costs;
  }
  Value mean = b.Subtract(log_sum, m->MeanOf(shifted, {3}, dims[3]));
  costs.smoothed = b.Add(b.MultiplyNumber(costs.exact, 1 - smoothing), b.MultiplyNumber(mean, smoothing));
  return costs;
}

}  // namespace toroid
