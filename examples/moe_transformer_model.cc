#include "examples/moe_transformer_model.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

using Sizes = std::vector<int64_t>;

// Letters of shapes as in the paper: G groups, S tokens of a group, B sequences of a group, L and T
// positions, M model, H hidden, N heads, K head width, E experts, C capacity, V vocabulary.
class ModelBuilder {
 public:
  explicit ModelBuilder(const MoeTransformerConfig& config)
      : c_(config), b_("moe_transformer", config.devices), type_(config.type) {}

  absl::StatusOr<std::unique_ptr<Module>> Loss();
  absl::StatusOr<std::unique_ptr<Module>> Layer();

 private:
  struct Routed {
    Value combine;   // [G,S,E,C]
    Value dispatch;  // [G,S,E,C], 0 or 1
    Value aux;       // [G]
  };
  // One of the two choices of each token.
  struct Choice {
    Value gate;  // [G,S]
    Value mask;  // pred[G,S,E], one expert per token
  };

  // ---- Parts of the gating
  // -----------------------------------------------------------------------------------------
  Choice Best(Value gates);
  Value Positions(Value mask, Value start);
  Value AtPosition(Value weight, Value mask, Value position);
  Routed Top2Gating(Value gates, Value uniform);
  Value MoeFeedForward(Value x, Value wg, Value wi, Value wo, Value uniform, Value* aux);

  // ---- Layers
  // ------------------------------------------------------------------------------------------------------
  Value Weight(const Sizes& dims, const std::string& name);
  Value LayerNorm(Value x, const std::string& name);
  Value Attention(Value x, Value memory, bool causal, const std::string& name);
  Value DenseFeedForward(Value x, const std::string& name);
  Value MoeLayer(Value x, const std::string& name);
  Value Embed(Value tokens, int64_t vocabulary, const std::string& name);
  Value Stack(Value x, Value memory, const std::string& name);
  Value NegativeLogLikelihood(Value x, Value labels);

  // ---- Small helpers
  // ----------------------------------------------------------------------------------------------- Puts a
  // value that lacks some dimensions of `dims` there: kept[i] is the place of its dimension i.
  Value Spread(Value x, const Sizes& dims, const Sizes& kept) { return b_.Broadcast(x, dims, kept); }
  Value Softmax(Value x);
  Value MeanOf(Value x, const Sizes& dimensions, int64_t count) {
    return b_.MultiplyNumber(b_.Sum(x, dimensions), 1.0 / static_cast<double>(count));
  }
  // The number of parts of a dimension of this size: the largest divisor of the devices that does not exceed
  // it.
  int64_t Parts(int64_t size) const {
    int64_t parts = std::min(size, c_.devices);
    while (c_.devices % parts != 0) --parts;
    return parts;
  }
  Value SplitGroups(Value x, int64_t dimension = 0) { return b_.Split(x, dimension, Parts(c_.groups)); }

  const MoeTransformerConfig& c_;
  Builder b_;
  PrimitiveType type_;
  Value uniform_ = nullptr;  // [MoE layers,G,S]
  int64_t next_moe_layer_ = 0;
  std::vector<Value> aux_;  // [G] of each MoE layer
};

// ---- Gating, Algorithm 1
// ------------------------------------------------------------------------------------------

Value ModelBuilder::Softmax(Value x) {
  const Shape& shape = x->shape();
  const int last = shape.rank() - 1;
  const Sizes dims(shape.dims().begin(), shape.dims().end());
  Sizes kept;
  for (int d = 0; d < last; ++d) kept.push_back(d);
  Value shifted = b_.Subtract(x, Spread(b_.Max(x, {last}), dims, kept));
  Value exponentials = b_.Exp(shifted);
  return b_.Divide(exponentials, Spread(b_.Sum(exponentials, {last}), dims, kept));
}

// The largest gate of each token and its expert; the lower expert where two are equal.
ModelBuilder::Choice ModelBuilder::Best(Value gates) {
  const Sizes gse = {c_.groups, c_.tokens_per_group(), c_.experts};
  Value gate = b_.Max(gates, {2});
  Value expert = b_.Iota(xla::S32, gse, 2);
  Value is_best = b_.Compare(gates, Spread(gate, gse, {0, 1}), "EQ");
  Value candidates = b_.Select(is_best, expert, b_.FullLike(expert, static_cast<double>(c_.experts)));
  Value best = b_.Reduce(Opcode::kMinimum, candidates, {2});
  return {gate, b_.Compare(expert, Spread(best, gse, {0, 1}), "EQ")};
}

// Position of each token in its expert's buffer: how many tokens before it chose the same expert, plus
// `start` [G,E] (null for none). s32[G,S].
Value ModelBuilder::Positions(Value mask, Value start) {
  const Sizes gse = {c_.groups, c_.tokens_per_group(), c_.experts};
  Value chosen = b_.Convert(mask, xla::S32);
  Value before = b_.Subtract(b_.CumulativeReduce(Opcode::kAdd, chosen, 1), chosen);
  if (start != nullptr) before = b_.Add(before, Spread(start, gse, {0, 2}));
  return b_.Sum(b_.Multiply(before, chosen), {2});
}

// weight [G,S] x one-hot expert x one-hot position: [G,S,E,C]; nothing where the position is beyond the
// capacity.
Value ModelBuilder::AtPosition(Value weight, Value mask, Value position) {
  const int64_t g = c_.groups, s = c_.tokens_per_group(), e = c_.experts, c = c_.capacity();
  Value slot = b_.Iota(xla::S32, {g, s, c}, 2);
  Value at_slot = b_.Compare(slot, Spread(position, {g, s, c}, {0, 1}), "EQ");
  Value weights = b_.Multiply(Spread(weight, {g, s, e}, {0, 1}), b_.Convert(mask, xla::F32));
  return b_.Multiply(Spread(weights, {g, s, e, c}, {0, 1, 2}),
                     Spread(b_.Convert(at_slot, xla::F32), {g, s, e, c}, {0, 1, 3}));
}

ModelBuilder::Routed ModelBuilder::Top2Gating(Value gates, Value uniform) {
  Builder::Scope scope(&b_, "top2_gating");
  const Choice first = Best(gates);
  const Choice second = Best(b_.Select(first.mask, b_.FullLike(gates, 0), gates));
  Value total = b_.Add(first.gate, second.gate);
  Value gate1 = b_.Divide(first.gate, total);
  Value gate2 = b_.Divide(second.gate, total);

  // All first choices come before any second one; decisions count whether they were kept or not.
  Value count1 = b_.Sum(b_.Convert(first.mask, xla::S32), {1});  // [G,E]
  Value position1 = Positions(first.mask, nullptr);
  Value position2 = Positions(second.mask, count1);
  Value keep2 = b_.Compare(b_.MultiplyNumber(gate2, 2), uniform, "GT");
  gate2 = b_.Select(keep2, gate2, b_.FullLike(gate2, 0));

  const double tokens = static_cast<double>(c_.tokens_per_group());
  Value mean_gates = MeanOf(gates, {1}, c_.tokens_per_group());  // [G,E]
  Value share = b_.MultiplyNumber(b_.Convert(count1, xla::F32), 1.0 / tokens);
  Value aux = MeanOf(b_.Multiply(share, mean_gates), {1}, c_.experts);

  Value combine = b_.Add(AtPosition(gate1, first.mask, position1), AtPosition(gate2, second.mask, position2));
  Value dispatch = b_.Convert(b_.Compare(combine, b_.FullLike(combine, 0), "NE"), type_);
  return {b_.Convert(combine, type_), dispatch, aux};
}

// ---- The layer, Algorithm 2
// ---------------------------------------------------------------------------------------

Value ModelBuilder::MoeFeedForward(Value x, Value wg, Value wi, Value wo, Value uniform, Value* aux) {
  Value logits = b_.Convert(b_.Einsum("GSM,ME->GSE", x, wg), xla::F32);
  const Routed routed = Top2Gating(Softmax(logits), uniform);
  *aux = routed.aux;
  Value expert_in = b_.Einsum("GSEC,GSM->EGCM", routed.dispatch, x);
  expert_in = b_.Split(expert_in, 0, Parts(c_.experts));
  Value h = b_.Einsum("EGCM,EMH->EGCH", expert_in, wi);
  h = b_.Maximum(h, b_.FullLike(h, 0));
  Value expert_out = b_.Einsum("EGCH,EHM->GECM", h, wo);
  return b_.Einsum("GSEC,GECM->GSM", routed.combine, expert_out);
}

Value ModelBuilder::MoeLayer(Value x, const std::string& name) {
  Builder::Scope scope(&b_, "moe");
  const int64_t g = c_.groups, s = c_.tokens_per_group(), e = c_.experts, m = c_.model;
  Value wg = b_.Replicate(Weight({m, e}, name + ".moe.wg"));
  Value wi = b_.Split(Weight({e, m, c_.hidden}, name + ".moe.wi"), 0, Parts(e));
  Value wo = b_.Split(Weight({e, c_.hidden, m}, name + ".moe.wo"), 0, Parts(e));
  const int64_t layer = next_moe_layer_++;
  Value uniform = b_.Reshape(b_.Slice(uniform_, {layer, 0, 0}, {layer + 1, g, s}), {g, s});
  Value tokens = SplitGroups(b_.Reshape(x, {g, s, m}));
  aux_.emplace_back();
  Value y = MoeFeedForward(tokens, wg, wi, wo, uniform, &aux_.back());
  return b_.Reshape(y, {g, c_.sequences, c_.sequence_length, m});
}

// ---- Other layers, on x [G,B,L,M]
// ---------------------------------------------------------------------------------

Value ModelBuilder::Weight(const Sizes& dims, const std::string& name) {
  return b_.Parameter(Shape(type_, dims), name);
}

// (x - mean) / sqrt(variance + 1e-6) * scale + bias, over M, in f32.
Value ModelBuilder::LayerNorm(Value x, const std::string& name) {
  Builder::Scope scope(&b_, "layer_norm");
  const Sizes dims(x->shape().dims().begin(), x->shape().dims().end());
  const Sizes tokens(dims.begin(), dims.end() - 1);
  Value wide = b_.Convert(x, xla::F32);
  Value centered = b_.Subtract(wide, Spread(MeanOf(wide, {3}, c_.model), dims, {0, 1, 2}));
  Value variance = MeanOf(b_.Multiply(centered, centered), {3}, c_.model);
  Value factor = b_.Rsqrt(b_.AddNumber(variance, 1e-6));
  Value normal = b_.Convert(b_.Multiply(centered, Spread(factor, dims, {0, 1, 2})), type_);
  Value scale = Spread(Weight({c_.model}, name + ".scale"), dims, {3});
  Value bias = Spread(Weight({c_.model}, name + ".bias"), dims, {3});
  return b_.Add(b_.Multiply(normal, scale), bias);
}

Value ModelBuilder::Attention(Value x, Value memory, bool causal, const std::string& name) {
  Builder::Scope scope(&b_, "attention");
  const int64_t m = c_.model, n = c_.heads, k = c_.head_dim, l = c_.sequence_length;
  const Sizes gbnlt = {c_.groups, c_.sequences, n, l, l};
  Value query = b_.Einsum("GBLM,MNK->GBLNK", x, Weight({m, n, k}, name + ".wq"));
  Value key = b_.Einsum("GBTM,MNK->GBTNK", memory, Weight({m, n, k}, name + ".wk"));
  Value value = b_.Einsum("GBTM,MNK->GBTNK", memory, Weight({m, n, k}, name + ".wv"));
  query = b_.MultiplyNumber(query, 1.0 / std::sqrt(static_cast<double>(k)));
  Value scores = b_.Convert(b_.Einsum("GBLNK,GBTNK->GBNLT", query, key), xla::F32);
  if (causal) {
    Value visible = b_.Compare(b_.Iota(xla::S32, {l, l}, 0), b_.Iota(xla::S32, {l, l}, 1), "GE");
    scores = b_.Select(Spread(visible, gbnlt, {3, 4}), scores, b_.FullLike(scores, -1e9));
  }
  Value weights = b_.Convert(Softmax(scores), type_);
  Value mixed = b_.Einsum("GBNLT,GBTNK->GBLNK", weights, value);
  return b_.Einsum("GBLNK,NKM->GBLM", mixed, Weight({n, k, m}, name + ".wo"));
}

Value ModelBuilder::DenseFeedForward(Value x, const std::string& name) {
  Builder::Scope scope(&b_, "ffn");
  Value h = b_.Einsum("GBLM,MH->GBLH", x, Weight({c_.model, c_.hidden}, name + ".ffn.wi"));
  h = b_.Maximum(h, b_.FullLike(h, 0));
  return b_.Einsum("GBLH,HM->GBLM", h, Weight({c_.hidden, c_.model}, name + ".ffn.wo"));
}

// Rows of a table, times sqrt(M), plus sinusoids: sin(l / 10000^(2i/M)) for the first half of M, cos for the
// second.
Value ModelBuilder::Embed(Value tokens, int64_t vocabulary, const std::string& name) {
  Builder::Scope scope(&b_, "embed");
  const int64_t l = c_.sequence_length, m = c_.model;
  Value table = Weight({vocabulary, m}, name + ".embedding");
  Value x = b_.MultiplyNumber(b_.GatherRows(table, tokens), std::sqrt(static_cast<double>(m)));
  Value column = b_.Iota(xla::F32, {l, m}, 1);
  Value half = b_.FullLike(column, static_cast<double>(m) / 2);
  Value first = b_.Compare(column, half, "LT");
  Value index = b_.Select(first, column, b_.Subtract(column, half));
  Value rate = b_.Exp(b_.MultiplyNumber(index, -2.0 * std::log(10000.0) / static_cast<double>(m)));
  Value angle = b_.Multiply(b_.Iota(xla::F32, {l, m}, 0), rate);
  Value positions =
      b_.Convert(b_.Select(first, b_.Unary(Opcode::kSin, angle), b_.Unary(Opcode::kCos, angle)), type_);
  return b_.Add(x, Spread(positions, {c_.groups, c_.sequences, l, m}, {2, 3}));
}

// Layers of one stack; with `memory`, the encoder's result, the decoder's. Each sublayer is x + f(norm(x)).
Value ModelBuilder::Stack(Value x, Value memory, const std::string& name) {
  Builder::Scope scope(&b_, name);
  for (int64_t i = 0; i < c_.layers / 2; ++i) {
    const std::string layer = absl::StrCat(name, ".layer_", i);
    Builder::Scope layer_scope(&b_, absl::StrCat("layer_", i));
    Value normal = LayerNorm(x, layer + ".self_norm");
    x = b_.Add(x, Attention(normal, normal, /*causal=*/memory != nullptr, layer + ".self"));
    if (memory != nullptr) {
      x = b_.Add(x,
                 Attention(LayerNorm(x, layer + ".cross_norm"), memory, /*causal=*/false, layer + ".cross"));
    }
    normal = LayerNorm(x, layer + ".ffn_norm");
    x = b_.Add(x, i % 2 == 1 ? MoeLayer(normal, layer) : DenseFeedForward(normal, layer));
  }
  return LayerNorm(x, name + ".norm");
}

// Mean over tokens of log(sum(exp(logits))) - logits[label].
Value ModelBuilder::NegativeLogLikelihood(Value x, Value labels) {
  Builder::Scope scope(&b_, "loss");
  const int64_t g = c_.groups, s = c_.sequences, l = c_.sequence_length, v = c_.target_vocabulary;
  const Sizes dims = {g, s, l, v};
  Value logits =
      b_.Convert(b_.Einsum("GBLM,MV->GBLV", x, Weight({c_.model, v}, "decoder.softmax")), xla::F32);
  Value largest = b_.Max(logits, {3});
  Value shifted = b_.Subtract(logits, Spread(largest, dims, {0, 1, 2}));
  Value log_sum = b_.Log(b_.Sum(b_.Exp(shifted), {3}));
  Value is_label = b_.Compare(b_.Iota(xla::S32, dims, 3), Spread(labels, dims, {0, 1, 2}), "EQ");
  Value of_label = b_.Sum(b_.Select(is_label, shifted, b_.FullLike(shifted, 0)), {3});
  return MeanOf(b_.Subtract(log_sum, of_label), {0, 1, 2}, g * s * l);
}

absl::StatusOr<std::unique_ptr<Module>> ModelBuilder::Loss() {
  const Shape tokens(xla::S32, {c_.groups, c_.sequences, c_.sequence_length});
  Value source = SplitGroups(b_.Parameter(tokens, "source_tokens"));
  Value target = SplitGroups(b_.Parameter(tokens, "target_tokens"));
  Value labels = SplitGroups(b_.Parameter(tokens, "labels"));
  uniform_ = SplitGroups(
      b_.Parameter(Shape(xla::F32, {c_.moe_layers(), c_.groups, c_.tokens_per_group()}), "uniform"), 1);
  Value encoded = Stack(Embed(source, c_.source_vocabulary, "encoder"), nullptr, "encoder");
  Value decoded = Stack(Embed(target, c_.target_vocabulary, "decoder"), encoded, "decoder");
  Value loss = NegativeLogLikelihood(decoded, labels);
  if (!aux_.empty()) {
    Value aux = aux_[0];
    for (size_t i = 1; i < aux_.size(); ++i) aux = b_.Add(aux, aux_[i]);
    const double count = static_cast<double>(c_.groups) * static_cast<double>(aux_.size());
    loss = b_.Add(loss, b_.MultiplyNumber(b_.Sum(aux, {0}), c_.aux_weight / count));
  }
  return b_.Build(loss);
}

absl::StatusOr<std::unique_ptr<Module>> ModelBuilder::Layer() {
  const int64_t g = c_.groups, s = c_.tokens_per_group(), e = c_.experts, m = c_.model;
  Value x = SplitGroups(b_.Parameter(Shape(type_, {g, s, m}), "x"));
  Value wg = b_.Replicate(Weight({m, e}, "wg"));
  Value wi = b_.Split(Weight({e, m, c_.hidden}, "wi"), 0, Parts(e));
  Value wo = b_.Split(Weight({e, c_.hidden, m}, "wo"), 0, Parts(e));
  Value uniform = SplitGroups(b_.Parameter(Shape(xla::F32, {g, s}), "uniform"));
  Value aux;
  Value y = MoeFeedForward(x, wg, wi, wo, uniform, &aux);
  return b_.Build(b_.Tuple({y, MeanOf(aux, {0}, g)}));
}

absl::Status Check(const MoeTransformerConfig& c) {
  for (const int64_t size :
       {c.devices, c.layers, c.experts, c.groups, c.sequences, c.sequence_length, c.model, c.hidden, c.heads,
        c.head_dim, c.source_vocabulary, c.target_vocabulary}) {
    if (size < 1) return absl::InvalidArgumentError("a size of the model is not positive");
  }
  if (c.layers % 2 != 0) return absl::InvalidArgumentError("layers must be even: half are in each stack");
  return absl::OkStatus();
}

}  // namespace

MoeTransformerConfig PaperConfig(int64_t experts, int64_t layers) {
  MoeTransformerConfig config;
  config.devices = config.groups = config.experts = experts;
  config.layers = layers;
  return config;
}

MoeTransformerConfig TinyConfig() {
  MoeTransformerConfig config;
  config.devices = config.groups = 2;
  config.layers = 4;
  config.experts = 4;
  config.sequences = 2;
  config.sequence_length = 4;
  config.model = 8;
  config.hidden = 16;
  config.heads = 2;
  config.head_dim = 4;
  config.source_vocabulary = 12;
  config.target_vocabulary = 10;
  return config;
}

absl::StatusOr<std::unique_ptr<Module>> BuildMoeTransformer(const MoeTransformerConfig& config) {
  RETURN_IF_ERROR(Check(config));
  return ModelBuilder(config).Loss();
}

absl::StatusOr<std::unique_ptr<Module>> BuildMoeLayer(const MoeTransformerConfig& config) {
  RETURN_IF_ERROR(Check(config));
  return ModelBuilder(config).Layer();
}

}  // namespace toroid
