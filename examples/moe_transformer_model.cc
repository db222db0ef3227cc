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
  absl::StatusOr<std::unique_ptr<Module>> LayerPair();

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
  Computation* LargerGate();
  Choice Best(Value gates);
  Value ChosenBefore(Value chosen);
  Value Positions(Value mask, Value start);
  Value AtPosition(Value weight, Value mask, Value position);
  Routed Top2Gating(Value gates, Value uniform);
  Value GateLogits(Value x, Value wg);
  Value Dispatch(const Routed& routed, Value x);
  Value Experts(Value x, Value wi, Value wo);
  Value Combine(const Routed& routed, Value expert_out);
  Value MoeFeedForward(Value x, Value wg, Value wi, Value wo, Value uniform, Value* aux);

  // ---- Layers
  // ------------------------------------------------------------------------------------------------------
  Value Weight(const Sizes& dims, const std::string& name);
  Value LayerNorm(Value x, const std::string& name);
  Value Scores(Value query, Value key, bool causal);
  Value Attention(Value x, Value memory, bool causal, const std::string& name);
  Value DenseFeedForward(Value x, const std::string& name);
  Value MoeLayer(Value x, const std::string& name);
  Value SelfAttentionSublayer(Value x, bool causal, const std::string& name);
  Value CrossAttentionSublayer(Value x, Value memory, const std::string& name);
  Value FeedForwardSublayer(Value x, bool is_moe, const std::string& name);
  Value Embed(Value tokens, int64_t vocabulary, const std::string& name);
  Value Stack(Value x, Value memory, const std::string& name);
  Value NegativeLogLikelihood(Value x, Value labels);

  // ---- Small helpers
  // ----------------------------------------------------------------------------------------------- Puts a
  // value that lacks some dimensions of `dims` there: kept[i] is the place of its dimension i.
  Value Spread(Value x, const Sizes& dims, const Sizes& kept) { return b_.Broadcast(x, dims, kept); }
  Value Softmax(Value x);
  Value LateSoftmax(Value x);
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
  Computation* larger_gate_ = nullptr;
  int64_t next_moe_layer_ = 0;
  std::vector<Value> aux_;  // [G] of each MoE layer
};

// ---- Gating, Algorithm 1
// ------------------------------------------------------------------------------------------

Value ModelBuilder::Softmax(Value x) {
  Builder::Scope scope(&b_, "softmax");
  const Shape& shape = x->shape();
  const int last = shape.rank() - 1;
  const Sizes dims(shape.dims().begin(), shape.dims().end());
  Sizes kept;
  for (int d = 0; d < last; ++d) kept.push_back(d);
  Value shifted = b_.Subtract(x, Spread(b_.Max(x, {last}), dims, kept));
  Value exponentials = b_.Exp(shifted);
  return b_.Divide(exponentials, Spread(b_.Sum(exponentials, {last}), dims, kept));
}

// The same as exp(x - log(sum of exp(x))): one pass less where the result is wanted inside of a product.
Value ModelBuilder::LateSoftmax(Value x) {
  Builder::Scope scope(&b_, "softmax");
  const Shape& shape = x->shape();
  const int last = shape.rank() - 1;
  const Sizes dims(shape.dims().begin(), shape.dims().end());
  Sizes kept;
  for (int d = 0; d < last; ++d) kept.push_back(d);
  Value largest = b_.Max(x, {last});
  Value sum = b_.Sum(b_.Exp(b_.Subtract(x, Spread(largest, dims, kept))), {last});
  return b_.Exp(b_.Subtract(x, Spread(b_.Add(b_.Log(sum), largest), dims, kept)));
}

// (gate, expert), (gate, expert) -> the one with the larger gate; the lower expert where two are equal.
Computation* ModelBuilder::LargerGate() {
  if (larger_gate_ != nullptr) return larger_gate_;
  InstructionBuilder b = b_.InNewComputation("larger_gate");
  const Shape gate(xla::F32, {}), expert(xla::S32, {});
  Value gate1 = b.Parameter(gate, "gate1"), expert1 = b.Parameter(expert, "expert1");
  Value gate2 = b.Parameter(gate, "gate2"), expert2 = b.Parameter(expert, "expert2");
  Value is_lower = b.And(b.Compare(gate1, gate2, "EQ"), b.Compare(expert1, expert2, "LT"));
  Value is_first = b.Or(b.Compare(gate1, gate2, "GT"), is_lower);
  return larger_gate_ = b.Finish(b.Tuple({b.Select(is_first, gate1, gate2), b.Select(is_first, expert1, expert2)}));
}

// The largest gate of each token and its expert.
ModelBuilder::Choice ModelBuilder::Best(Value gates) {
  const Sizes gse = {c_.groups, c_.tokens_per_group(), c_.experts};
  Value expert = b_.Iota(xla::S32, gse, 2);
  Value best = b_.Reduce({gates, expert}, {b_.Full(xla::F32, {}, -1), b_.Zero(xla::S32)}, {2}, LargerGate());
  Value mask = b_.Compare(expert, Spread(b_.GetTupleElement(best, 1), gse, {0, 1}), "EQ");
  return {b_.GetTupleElement(best, 0), mask};
}

// How many tokens before each one chose each expert. chosen: f32[G,S,E], 0 or 1; the result alike, exact below 2^24.
Value ModelBuilder::ChosenBefore(Value chosen) {
  Builder::Scope scope(&b_, "cumulative_sum");
  if (!c_.cumulative_sums_by_products) return b_.Subtract(b_.CumulativeReduce(Opcode::kAdd, chosen, 1), chosen);
  const Sizes st = {c_.tokens_per_group(), c_.tokens_per_group()};
  Value is_before = b_.Compare(b_.Iota(xla::S32, st, 0), b_.Iota(xla::S32, st, 1), "LT");
  return b_.Einsum("GSE,ST->GTE", chosen, b_.Convert(is_before, xla::F32));
}

// Position of each token in its expert's buffer: how many tokens before it chose the same expert, plus
// `start` f32[G,E] (null for none). s32[G,S].
Value ModelBuilder::Positions(Value mask, Value start) {
  const Sizes gse = {c_.groups, c_.tokens_per_group(), c_.experts};
  Value chosen = b_.Convert(mask, xla::F32);
  Value before = ChosenBefore(chosen);
  if (start != nullptr) before = b_.Add(before, Spread(start, gse, {0, 2}));
  return b_.Convert(b_.Sum(b_.Multiply(before, chosen), {2}), xla::S32);
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
  Value count1 = b_.Sum(b_.Convert(first.mask, xla::F32), {1});  // [G,E]
  Value position1 = Positions(first.mask, nullptr);
  Value position2 = Positions(second.mask, count1);
  Value keep2 = b_.Compare(b_.MultiplyNumber(gate2, 2), uniform, "GT");
  gate2 = b_.Select(keep2, gate2, b_.FullLike(gate2, 0));

  const double tokens = static_cast<double>(c_.tokens_per_group());
  Value mean_gates = MeanOf(gates, {1}, c_.tokens_per_group());  // [G,E]
  Value share = b_.MultiplyNumber(count1, 1.0 / tokens);
  Value aux = MeanOf(b_.Multiply(share, mean_gates), {1}, c_.experts);

  Value combine = b_.Add(AtPosition(gate1, first.mask, position1), AtPosition(gate2, second.mask, position2));
  Value dispatch = b_.Convert(b_.Compare(combine, b_.FullLike(combine, 0), "NE"), type_);
  return {b_.Convert(combine, type_), dispatch, aux};
}

// ---- The layer, Algorithm 2
// ---------------------------------------------------------------------------------------

Value ModelBuilder::MoeFeedForward(Value x, Value wg, Value wi, Value wo, Value uniform, Value* aux) {
  const Routed routed = Top2Gating(Softmax(GateLogits(x, wg)), uniform);
  *aux = routed.aux;
  return Combine(routed, Experts(Dispatch(routed, x), wi, wo));
}

Value ModelBuilder::GateLogits(Value x, Value wg) {
  Builder::Scope scope(&b_, "gate_logits");
  return b_.Convert(b_.Einsum("GSM,ME->GSE", x, wg), xla::F32);
}

// What each expert gets from all groups: [E,A,M], A = G C.
Value ModelBuilder::Dispatch(const Routed& routed, Value x) {
  Builder::Scope scope(&b_, "dispatch");
  const int64_t e = c_.experts;
  Value expert_in = b_.Split(b_.Einsum("GSEC,GSM->EGCM", routed.dispatch, x), 0, Parts(e));
  return b_.Reshape(expert_in, {e, c_.groups * c_.capacity(), c_.model});
}

Value ModelBuilder::Experts(Value x, Value wi, Value wo) {
  Builder::Scope scope(&b_, "experts");
  Value h = b_.Einsum("EAM,EMH->EAH", x, wi);
  h = b_.Maximum(h, b_.FullLike(h, 0));
  return b_.Einsum("EAH,EHM->EAM", h, wo);
}

Value ModelBuilder::Combine(const Routed& routed, Value expert_out) {
  Builder::Scope scope(&b_, "combine");
  expert_out = b_.Reshape(expert_out, {c_.experts, c_.groups, c_.capacity(), c_.model});
  return b_.Einsum("GSEC,GECM->GSM", routed.combine, b_.Transpose(expert_out, {1, 0, 2, 3}));
}

Value ModelBuilder::MoeLayer(Value x, const std::string& name) {
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

// x / sqrt(mean of x^2 + 1e-6) * scale, over M, in f32.
Value ModelBuilder::LayerNorm(Value x, const std::string& name) {
  Builder::Scope scope(&b_, "layer_norm");
  const Sizes dims(x->shape().dims().begin(), x->shape().dims().end());
  Value wide = b_.Convert(x, xla::F32);
  Value factor = b_.Rsqrt(b_.AddNumber(MeanOf(b_.Multiply(wide, wide), {3}, c_.model), 1e-6));
  Value normal = b_.Convert(b_.Multiply(wide, Spread(factor, dims, {0, 1, 2})), type_);
  return b_.Multiply(normal, Spread(Weight({c_.model}, name + ".scale"), dims, {3}));
}

// Scores of each position of x against those of memory: [G,B,N,L,T], in f32.
Value ModelBuilder::Scores(Value query, Value key, bool causal) {
  const int64_t n = c_.heads, l = c_.sequence_length;
  const Sizes gbnlt = {c_.groups, c_.sequences, n, l, l};
  query = b_.MultiplyNumber(query, 1.0 / std::sqrt(static_cast<double>(c_.head_dim)));
  Value scores = b_.Convert(b_.Einsum("GBLNK,GBTNK->GBNLT", query, key), xla::F32);
  if (!causal) return scores;
  Value visible = b_.Compare(b_.Iota(xla::S32, {l, l}, 0), b_.Iota(xla::S32, {l, l}, 1), "GE");
  return b_.Select(Spread(visible, gbnlt, {3, 4}), scores, b_.FullLike(scores, -1e9));
}

Value ModelBuilder::Attention(Value x, Value memory, bool causal, const std::string& name) {
  const int64_t m = c_.model, n = c_.heads, k = c_.head_dim;
  const auto project = [&](const char* einsum, Value from, const Sizes& dims, const char* weight) {
    Builder::Scope scope(&b_, "projections");
    return b_.Einsum(einsum, from, Weight(dims, name + weight));
  };
  Value query = project("GBLM,MNK->GBLNK", x, {m, n, k}, ".wq");
  Value key = project("GBTM,MNK->GBTNK", memory, {m, n, k}, ".wk");
  Value value = project("GBTM,MNK->GBTNK", memory, {m, n, k}, ".wv");
  Value mixed;
  {
    Builder::Scope scope(&b_, "attention");
    mixed = b_.Einsum("GBNLT,GBTNK->GBLNK", b_.Convert(LateSoftmax(Scores(query, key, causal)), type_), value);
  }
  return project("GBLNK,NKM->GBLM", mixed, {n, k, m}, ".wo");
}

Value ModelBuilder::DenseFeedForward(Value x, const std::string& name) {
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

// Sublayers: x + f(norm(x)).
Value ModelBuilder::SelfAttentionSublayer(Value x, bool causal, const std::string& name) {
  Builder::Scope scope(&b_, "self_attention");
  Value normal = LayerNorm(x, name + ".self_norm");
  return b_.Add(x, Attention(normal, normal, causal, name + ".self"));
}

Value ModelBuilder::CrossAttentionSublayer(Value x, Value memory, const std::string& name) {
  Builder::Scope scope(&b_, "cross_attention");
  Value normal = LayerNorm(x, name + ".cross_norm");
  return b_.Add(x, Attention(normal, memory, /*causal=*/false, name + ".cross"));
}

Value ModelBuilder::FeedForwardSublayer(Value x, bool is_moe, const std::string& name) {
  Builder::Scope scope(&b_, is_moe ? "moe" : "ffn");
  Value normal = LayerNorm(x, name + ".ffn_norm");
  return b_.Add(x, is_moe ? MoeLayer(normal, name) : DenseFeedForward(normal, name));
}

// Layers of one stack; with `memory`, the encoder's result, the decoder's.
Value ModelBuilder::Stack(Value x, Value memory, const std::string& name) {
  Builder::Scope scope(&b_, name);
  for (int64_t i = 0; i < c_.layers / 2; ++i) {
    const std::string layer = absl::StrCat(name, ".layer_", i);
    Builder::Scope layer_scope(&b_, absl::StrCat("layer_", i));
    x = SelfAttentionSublayer(x, /*causal=*/memory != nullptr, layer);
    if (memory != nullptr) x = CrossAttentionSublayer(x, memory, layer);
    x = FeedForwardSublayer(x, /*is_moe=*/i % 2 == 1, layer);
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

absl::StatusOr<std::unique_ptr<Module>> ModelBuilder::LayerPair() {
  const Sizes tokens = {c_.groups, c_.sequences, c_.sequence_length, c_.model};
  Value x = SplitGroups(b_.Parameter(Shape(type_, tokens), "x"));
  uniform_ = SplitGroups(b_.Parameter(Shape(xla::F32, {1, c_.groups, c_.tokens_per_group()}), "uniform"), 1);
  for (const bool is_moe : {false, true}) {
    const std::string layer = is_moe ? "layer_1" : "layer_0";
    x = SelfAttentionSublayer(x, /*causal=*/false, layer);
    x = FeedForwardSublayer(x, is_moe, layer);
  }
  Builder::Scope scope(&b_, "moe");
  return b_.Build(b_.Tuple({x, MeanOf(aux_[0], {0}, c_.groups)}));
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

absl::StatusOr<std::unique_ptr<Module>> BuildLayerPair(const MoeTransformerConfig& config) {
  RETURN_IF_ERROR(Check(config));
  return ModelBuilder(config).LayerPair();
}

}  // namespace toroid
