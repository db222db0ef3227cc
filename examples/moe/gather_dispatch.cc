#include "examples/moe/gather_dispatch.h"

namespace toroid {
namespace {

// A manual region, in which each device computes on its own groups. If groups are not cut, there is no
// region.
class GroupRegion {
 public:
  explicit GroupRegion(ModelBuilder* m) : b_(m->b()), parts_(m->config().Parts(m->config().groups)) {}

  // The device's part of x along dimension `groups`.
  Value Enter(Value x, int64_t groups = 0) {
    return parts_ == 1 ? x : b_.AutoToManual(b_.Split(x, groups, parts_));
  }
  Value Leave(Value x, int64_t groups = 0) {
    if (parts_ == 1) return x;
    Sizes full = SizesOf(x);
    full[groups] *= parts_;
    return b_.ManualToAuto(x, full);
  }

 private:
  Builder& b_;
  const int64_t parts_;
};

// s32[G',N] -> [G',N,2]: each index preceded by its group's number.
Value WithGroup(Value indices, Builder& b) {
  const Sizes dims = SizesOf(indices), pair = {dims[0], dims[1], 1};
  return b.Concatenate({b.Iota(xla::S32, pair, 0), b.Reshape(indices, pair)}, 2);
}

// rows [G',R,M], indices s32[G',N] in [0, R) -> [G',N,M].
Value PickRows(Value rows, Value indices, Builder& b) {
  xla::GatherDimensionNumbers numbers;
  numbers.add_offset_dims(2);
  for (const int64_t d : {0, 1}) {
    numbers.add_collapsed_slice_dims(d);
    numbers.add_start_index_map(d);
  }
  numbers.set_index_vector_dim(2);
  return b.Gather(rows, WithGroup(indices, b), numbers, {1, 1, rows->shape().dim(2)});
}

// The token of each slot: s32[G',EC], S for an empty slot. slots: s32[G',2S], the slots of both choices.
Value TokensOfSlots(Value slots, ModelBuilder* m) {
  Builder& b = m->b();
  const MoeTransformerConfig& config = m->config();
  const int64_t g = slots->shape().dim(0), s = config.tokens_per_group();
  Value tokens = b.Iota(xla::S32, {g, s}, 1);
  xla::ScatterDimensionNumbers numbers;
  for (const int64_t d : {0, 1}) {
    numbers.add_inserted_window_dims(d);
    numbers.add_scatter_dims_to_operand_dims(d);
  }
  numbers.set_index_vector_dim(2);
  // Writes to slots beyond the last are dropped; no two tokens have the same slot.
  return b.Scatter(b.Full(xla::S32, {g, config.experts * config.capacity()}, static_cast<double>(s)),
                   WithGroup(slots, b), b.Concatenate({tokens, tokens}, 1), numbers,
                   b.ReducerComputation(Opcode::kMinimum, xla::S32));
}

}  // namespace

Slots::Slots(const Gating& gating, Value present, ModelBuilder* m) {
  Builder& b = m->b();
  const int64_t c = m->config().capacity();
  const Choice* const choices[2] = {&gating.first, &gating.second};
  for (int i = 0; i < 2; ++i) {
    const Choice& choice = *choices[i];
    Value fits = b.Compare(choice.position, b.FullLike(choice.position, static_cast<double>(c)), "LT");
    Value has = b.And(fits, b.Compare(choice.gate, b.FullLike(choice.gate, 0), "NE"));
    if (present != nullptr) has = b.And(has, present);
    Value place = b.Add(b.MultiplyNumber(choice.expert, static_cast<double>(c)), choice.position);
    slot[i] = b.Select(has, place, b.FullLike(place, static_cast<double>(m->config().experts * c)));
    gate[i] = b.Select(has, choice.gate, b.FullLike(choice.gate, 0));
  }
}

Value DispatchByGather(const Slots& slots, Value x, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "dispatch");
  const MoeTransformerConfig& config = m->config();
  GroupRegion region(m);
  x = region.Enter(x);
  const int64_t g = x->shape().dim(0), s = config.tokens_per_group();
  Value tokens = TokensOfSlots(region.Enter(b.Concatenate({slots.slot[0], slots.slot[1]}, 1)), m);
  Value is_empty = b.Compare(tokens, b.FullLike(tokens, static_cast<double>(s)), "EQ");
  Value rows = PickRows(x, b.Minimum(tokens, b.FullLike(tokens, static_cast<double>(s - 1))), b);
  rows = b.Select(m->Spread(is_empty, SizesOf(rows), {0, 1}), b.FullLike(rows, 0), rows);
  rows = b.Reshape(rows, {g, config.experts, config.capacity(), config.model});
  return region.Leave(b.Transpose(rows, {1, 0, 2, 3}), 1);
}

Value CombineByGather(const Slots& slots, Value expert_out, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "combine");
  const MoeTransformerConfig& config = m->config();
  const int64_t last = config.experts * config.capacity() - 1;
  GroupRegion region(m);
  Value rows = b.Transpose(region.Enter(expert_out, 1), {1, 0, 2, 3});
  rows = b.Reshape(rows, {rows->shape().dim(0), last + 1, config.model});
  Value y = nullptr;
  for (int i = 0; i < 2; ++i) {
    Value slot = region.Enter(slots.slot[i]);
    slot = b.Minimum(slot, b.FullLike(slot, static_cast<double>(last)));
    Value answer = b.Convert(PickRows(rows, slot, b), xla::F32);
    Value gate = b.Convert(m->Activation(region.Enter(slots.gate[i])), xla::F32);
    Value part = b.Multiply(answer, m->Spread(gate, SizesOf(answer), {0, 1}));
    y = y == nullptr ? part : b.Add(y, part);
  }
  return region.Leave(m->Activation(y));
}

}  // namespace toroid
