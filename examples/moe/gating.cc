#include "examples/moe/gating.h"

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {
namespace {

struct GatingSizes {
  explicit GatingSizes(const MoeTransformerConfig& c)
      : g(c.groups), s(c.tokens_per_group()), e(c.experts), gse{g, s, e} {}
  int64_t g, s, e;
  Sizes gse;
};

// (gate, expert), (gate, expert) -> the pair with the larger gate; if gates are equal, the one with the lower
// expert.
Computation* LargerGate(ModelBuilder* m) {
  if (m->larger_gate() != nullptr) return m->larger_gate();
  InstructionBuilder b = m->b().InNewComputation("larger_gate");
  const Shape gate(xla::F32, {}), expert(xla::S32, {});
  Value gate1 = b.Parameter(gate, "gate1"), expert1 = b.Parameter(expert, "expert1");
  Value gate2 = b.Parameter(gate, "gate2"), expert2 = b.Parameter(expert, "expert2");
  Value is_lower = b.And(b.Compare(gate1, gate2, "EQ"), b.Compare(expert1, expert2, "LT"));
  Value is_first = b.Or(b.Compare(gate1, gate2, "GT"), is_lower);
  return m->larger_gate() =
             b.Finish(b.Tuple({b.Select(is_first, gate1, gate2), b.Select(is_first, expert1, expert2)}));
}

// The largest gate of each token and its expert. The derivative goes to that expert's gate.
Choice Best(Value gates, ModelBuilder* m) {
  Builder& b = m->b();
  const GatingSizes sizes(m->config());
  Value experts = b.Iota(xla::S32, sizes.gse, 2);
  Value best = b.Reduce({gates, experts}, {b.Full(xla::F32, {}, -1), b.Zero(xla::S32)}, {2}, LargerGate(m));
  Choice choice;
  choice.gate = b.GetTupleElement(best, 0);
  choice.expert = b.GetTupleElement(best, 1);
  choice.mask = b.Compare(experts, m->Spread(choice.expert, sizes.gse, {0, 1}), "EQ");
  const auto to_the_best = [](Pullback& p) {
    Value mask = p.read(0), of_gates = p.b.BroadcastOver(p.cotangent(0), mask->shape().dims(), {2});
    p.Add(0, p.b.Select(mask, of_gates, p.b.FullLike(of_gates, 0)));
    return absl::OkStatus();
  };
  m->gradient_options().custom[best] = CustomRule(to_the_best, {choice.mask});
  return choice;
}

// The number of earlier tokens that chose each expert. chosen: f32[G,S,E], 0 or 1; the result has the same
// shape and is exact below 2^24.
Value ChosenBefore(Value chosen, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "cumulative_sum");
  if (!m->config().cumulative_sums_by_products)
    return b.Subtract(b.CumulativeReduce(Opcode::kAdd, chosen, 1), chosen);
  const int64_t s = m->config().tokens_per_group();
  Value is_before = b.Compare(b.Iota(xla::S32, {s, s}, 0), b.Iota(xla::S32, {s, s}, 1), "LT");
  return b.Einsum("GSE,ST->GTE", chosen, b.Convert(is_before, xla::F32));
}

// s32[G,S]: each token's position in its expert's buffer: the number of earlier tokens that chose the expert,
// plus `start` f32[G,E] (null: 0).
Value Positions(Value mask, Value start, ModelBuilder* m) {
  Builder& b = m->b();
  Value chosen = b.Convert(mask, xla::F32);
  Value before = ChosenBefore(chosen, m);
  if (start != nullptr) before = b.Add(before, m->Spread(start, GatingSizes(m->config()).gse, {0, 2}));
  return b.Convert(b.Sum(b.Multiply(before, chosen), {2}), xla::S32);
}

// sums: f32[G,E] over a group's tokens.
Value MeanOverTokens(Value sums, Value present, ModelBuilder* m) {
  Builder& b = m->b();
  if (present == nullptr)
    return b.MultiplyNumber(sums, 1.0 / static_cast<double>(m->config().tokens_per_group()));
  Value tokens = b.Sum(b.Convert(present, xla::F32), {1});  // [G]
  return b.Divide(sums, m->Spread(b.Maximum(tokens, b.FullLike(tokens, 1)), SizesOf(sums), {0}));
}

}  // namespace

Gating Top2Gating(Value gates, Value uniform, Value present, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "top2_gating");
  const GatingSizes sizes(m->config());
  Gating gating;
  Choice& first = gating.first = Best(gates, m);
  Choice& second = gating.second = Best(b.Select(first.mask, b.FullLike(gates, 0), gates), m);
  Value total = b.Add(first.gate, second.gate);
  first.gate = b.Divide(first.gate, total);
  second.gate = b.Divide(second.gate, total);
  if (present != nullptr) {
    Value spread = m->Spread(present, sizes.gse, {0, 1});
    first.mask = b.And(first.mask, spread);
    second.mask = b.And(second.mask, spread);
    gates = b.Select(spread, gates, b.FullLike(gates, 0));
  }

  gating.load = b.Sum(b.Convert(first.mask, xla::F32), {1});
  first.position = Positions(first.mask, nullptr, m);
  second.position = Positions(second.mask, gating.load, m);
  Value keep = b.Compare(b.MultiplyNumber(second.gate, 2), uniform, "GT");
  second.gate = b.Select(keep, second.gate, b.FullLike(second.gate, 0));

  // [G,E]: sums over the tokens that are not padding, divided by their number.
  Value mean_gates = MeanOverTokens(b.Sum(gates, {1}), present, m);
  Value share = MeanOverTokens(gating.load, present, m);
  gating.aux = m->MeanOf(b.Multiply(share, mean_gates), {1}, sizes.e);
  return gating;
}

}  // namespace toroid
