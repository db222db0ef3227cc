#include "examples/moe/layers.h"

#include <cmath>

#include "examples/moe/softmax.h"

namespace toroid {
namespace {

// Scores of each position of the queries against those of the memory: f32[G,B,N,L,T].
Value Scores(Value query, Value key, const AttentionMask& mask, ModelBuilder* m) {
  Builder& b = m->b();
  query = b.MultiplyNumber(query, 1.0 / std::sqrt(static_cast<double>(m->config().head_dim)));
  Value scores = b.Convert(b.Einsum("GBLNK,GBTNK->GBNLT", query, key), xla::F32);
  const Sizes gbnlt = SizesOf(scores);
  const int64_t l = gbnlt[3], t = gbnlt[4];
  Value visible = nullptr;
  if (mask.is_causal) {
    visible = m->Spread(b.Compare(b.Iota(xla::S32, {l, t}, 0), b.Iota(xla::S32, {l, t}, 1), "GE"), gbnlt, {3, 4});
  }
  if (mask.present != nullptr) {
    Value present = m->Spread(mask.present, gbnlt, {0, 1, 4});
    visible = visible == nullptr ? present : b.And(visible, present);
  }
  return visible == nullptr ? scores : b.Select(visible, scores, b.FullLike(scores, -1e9));
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

Value Attention(Value x, Value memory, const AttentionMask& mask, const std::string& name, ModelBuilder* m) {
  Builder& b = m->b();
  const int64_t model = m->config().model, n = m->config().heads, k = m->config().head_dim;
  const auto project = [&](const char* einsum, Value from, const Sizes& dims, int64_t fan_in, const char* weight) {
    Builder::Scope scope(&b, "projections");
    return b.Einsum(einsum, from, m->Activation(m->Weight(dims, name + weight, fan_in)));
  };
  Value query = project("GBLM,MNK->GBLNK", x, {model, n, k}, model, ".wq");
  Value key = project("GBTM,MNK->GBTNK", memory, {model, n, k}, model, ".wk");
  Value value = project("GBTM,MNK->GBTNK", memory, {model, n, k}, model, ".wv");
  Value mixed;
  {
    Builder::Scope scope(&b, "attention");
    Value weights = m->Dropout(m->Activation(LateSoftmax(Scores(query, key, mask, m), m)));
    mixed = b.Einsum("GBNLT,GBTNK->GBLNK", weights, value);
  }
  return project("GBLNK,NKM->GBLM", mixed, {n, k, model}, n * k, ".wo");
}

Value DenseFeedForward(Value x, const std::string& name, ModelBuilder* m) {
  Builder& b = m->b();
  const int64_t model = m->config().model, hidden = m->config().hidden;
  Value h = b.Einsum("GBLM,MH->GBLH", x, m->Activation(m->Weight({model, hidden}, name + ".ffn.wi", model)));
  h = m->HiddenRelu(h);
  return b.Einsum("GBLH,HM->GBLM", h, m->Activation(m->Weight({hidden, model}, name + ".ffn.wo", hidden)));
}

Value Embed(Value table, Value tokens, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "embed");
  const int64_t size = table->shape().dim(1);
  Sizes dims = SizesOf(tokens);
  const int64_t l = dims.back();
  dims.push_back(size);
  Value rows = m->Activation(b.GatherRows(table, tokens));
  Value x = b.MultiplyNumber(rows, std::sqrt(static_cast<double>(size)));
  Value column = b.Iota(xla::F32, {l, size}, 1);
  Value half = b.FullLike(column, static_cast<double>(size) / 2);
  Value first = b.Compare(column, half, "LT");
  Value index = b.Select(first, column, b.Subtract(column, half));
  Value rate = b.Exp(b.MultiplyNumber(index, -2.0 * std::log(10000.0) / static_cast<double>(size)));
  Value angle = b.Multiply(b.Iota(xla::F32, {l, size}, 0), rate);
  Value positions = m->Activation(b.Select(first, b.Unary(Opcode::kSin, angle), b.Unary(Opcode::kCos, angle)));
  return b.Add(x, m->Spread(positions, dims, {2, 3}));
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
