#include "hlo/gradient/rules/indexing.h"

#include <limits>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "hlo/gradient/rules/expansion.h"
#include "hlo/gradient/rules/reducers.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

// The starts, one scalar per dimension, whether the op has scalar operands or one vector.
std::vector<Value> Starts(Pullback& p, int first) {
  InstructionBuilder& b = p.b;
  std::vector<Value> starts;
  if (p.op().num_operands() == first + 1 && p.operand_shape(first).rank() == 1) {
    for (int64_t d = 0; d < p.operand_shape(0).rank(); ++d) {
      starts.push_back(b.Reshape(b.SliceAlong(p.operand(first), 0, d, d + 1), {}));
    }
    return starts;
  }
  for (int i = first; i < p.op().num_operands(); ++i) starts.push_back(p.operand(i));
  return starts;
}

// The dimension of an index array that holds the parts of one index; nullopt if indices are scalars.
std::optional<int64_t> IndexVectorDim(const Shape& indices, int64_t index_vector_dim) {
  if (index_vector_dim >= indices.rank()) return std::nullopt;
  return index_vector_dim;
}

// limits[i] for part i of an index, as an array of the indices' shape.
Value PartLimits(InstructionBuilder& b, const Shape& indices, std::optional<int64_t> dim,
                 const std::vector<int64_t>& limits) {
  std::vector<Value> parts;
  for (const int64_t limit : limits) {
    std::vector<int64_t> sizes(indices.dims().begin(), indices.dims().end());
    if (dim) sizes[*dim] = 1;
    parts.push_back(b.Broadcast(b.IntScalar(limit, indices.element_type()), sizes));
  }
  return dim ? b.Concatenate(parts, *dim) : parts[0];
}

// For each part of an index: the largest value at which a slice fits, limited to the largest of the type.
template <typename SizeOf>
std::vector<int64_t> LargestStarts(const Shape& operand, PrimitiveType type, absl::Span<const int64_t> dims,
                                   SizeOf size_of) {
  const int64_t bits = 8 * ByteWidth(type) - (IsSignedInt(type) ? 1 : 0);
  const int64_t most = bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
  std::vector<int64_t> limits;
  for (const int64_t d : dims) limits.push_back(std::min(operand.dim(d) - size_of(d), most));
  return limits;
}

}  // namespace

absl::Status DynamicSliceGradient(Pullback& p) {
  p.AddAt(0, p.cotangent(), Starts(p, 1));
  return absl::OkStatus();
}

absl::Status DynamicUpdateSliceGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const Value t = p.cotangent();
  const std::vector<Value> starts = Starts(p, 2);
  const Shape& update = p.operand_shape(1);
  if (p.Wants(0))
    p.Add(0, b.DynamicUpdateSlice(t, b.Zeros(t->shape().element_type(), update.dims()), starts));
  if (p.Wants(1)) p.Add(1, b.DynamicSlice(t, starts, update.dims()));
  return absl::OkStatus();
}

absl::Status GatherGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const GatherView gather(p.op());
  if (p.op().shape().NumElements() == 0 || !p.Wants(0)) return absl::OkStatus();
  Value indices = p.operand(1);
  if (!gather.start_index_map().empty()) {
    const auto limits =
        LargestStarts(p.operand_shape(0), indices->shape().element_type(), gather.start_index_map(),
                      [&](int64_t d) { return gather.slice_sizes()[d]; });
    const Value high =
        PartLimits(b, indices->shape(), IndexVectorDim(indices->shape(), gather.index_vector_dim()), limits);
    indices = b.Clamp(b.FullLike(indices, 0), indices, high);
  }
  xla::ScatterDimensionNumbers numbers;
  const auto copy = [](absl::Span<const int64_t> from, auto* to) { to->Add(from.begin(), from.end()); };
  copy(gather.offset_dims(), numbers.mutable_update_window_dims());
  copy(gather.collapsed_slice_dims(), numbers.mutable_inserted_window_dims());
  copy(gather.operand_batching_dims(), numbers.mutable_input_batching_dims());
  copy(gather.start_indices_batching_dims(), numbers.mutable_scatter_indices_batching_dims());
  copy(gather.start_index_map(), numbers.mutable_scatter_dims_to_operand_dims());
  numbers.set_index_vector_dim(gather.index_vector_dim());
  const PrimitiveType type = p.op().shape().element_type();
  p.Add(0, b.Scatter(b.Zeros(type, p.operand_shape(0).dims()), indices, p.cotangent(), numbers,
                     b.ReducerComputation(Opcode::kAdd, type)));
  return absl::OkStatus();
}

namespace {

class ScatterPullback {
 public:
  explicit ScatterPullback(Pullback& p) : p_(p), b_(p.b), view_(p.op()), updates_(p.operand_shape(2)) {
    const Shape& operand = p.operand_shape(0);
    slice_sizes_.assign(operand.rank(), 1);
    size_t window = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (absl::c_linear_search(view_.inserted_window_dims(), d) ||
          absl::c_linear_search(view_.operand_batching_dims(), d)) {
        continue;
      }
      slice_sizes_[d] = updates_.dim(view_.update_window_dims()[window++]);
    }
  }

  void Sum() {
    p_.Add(0, p_.cotangent());
    if (p_.Wants(2)) p_.Add(2, Masked(Read(p_.cotangent()), Fits()));
  }

  // The last update of an element wins. A scatter of the updates' numbers, in the same order, shows which
  // one.
  void Overwrite() {
    const Value winners = ScatteredNumbers();
    const Value t = p_.cotangent();
    if (p_.Wants(0)) p_.Add(0, Masked(t, b_.Compare(winners, b_.FullLike(winners, 0), "EQ")));
    if (p_.Wants(2)) p_.Add(2, Masked(Read(t), b_.And(Fits(), b_.Compare(Read(winners), Numbers(), "EQ"))));
  }

  // The operand and updates that equal the result share its cotangent.
  void Extreme() {
    const Value t = p_.cotangent(), result = p_.result();
    const Value mine = b_.Convert(b_.Compare(p_.operand(0), result, "EQ"), t->shape().element_type());
    const Value is_it = b_.And(Fits(), b_.Compare(p_.operand(2), Read(result), "EQ"));
    const Value theirs = b_.Convert(is_it, t->shape().element_type());
    const Value number = b_.Scatter(mine, p_.operand(1), theirs, p_.op().attrs().scatter_dimension_numbers(),
                                    b_.ReducerComputation(Opcode::kAdd, t->shape().element_type()));
    // If none is equal (a NaN), no gradient flows.
    const Value share = b_.Divide(t, b_.Maximum(number, b_.FullLike(number, 1)));
    if (p_.Wants(0)) p_.Add(0, b_.Multiply(mine, share));
    if (p_.Wants(2)) p_.Add(2, Masked(Read(share), is_it));
  }

  absl::Status Product() {
    const Value t = p_.cotangent();
    if (p_.Wants(2) && !p_.op().attrs().unique_indices()) {
      return absl::UnimplementedError(
          "updates that are multiplied in have a gradient only if indices are unique");
    }
    if (p_.Wants(0)) {
      const Value factors = b_.Clone(p_.op(), t->shape(), {b_.FullLike(t, 1), p_.operand(1), p_.operand(2)});
      factors->set_called(p_.op().called());
      p_.Add(0, b_.Multiply(t, factors));
    }
    if (p_.Wants(2)) p_.Add(2, Masked(Read(b_.Multiply(t, p_.operand(0))), Fits()));
    return absl::OkStatus();
  }

 private:
  Value Masked(Value x, Value mask) { return b_.Select(mask, x, b_.FullLike(x, 0)); }

  // Reads `x`, an array like the operand, at the places of the updates.
  Value Read(Value x) {
    xla::GatherDimensionNumbers numbers;
    const auto copy = [](absl::Span<const int64_t> from, auto* to) { to->Add(from.begin(), from.end()); };
    copy(view_.update_window_dims(), numbers.mutable_offset_dims());
    copy(view_.inserted_window_dims(), numbers.mutable_collapsed_slice_dims());
    copy(view_.operand_batching_dims(), numbers.mutable_operand_batching_dims());
    copy(view_.indices_batching_dims(), numbers.mutable_start_indices_batching_dims());
    copy(view_.scatter_dims_to_operand_dims(), numbers.mutable_start_index_map());
    numbers.set_index_vector_dim(view_.index_vector_dim());
    return b_.Gather(x, p_.operand(1), numbers, slice_sizes_);
  }

  // A pred array like the updates: true where an update lies within the operand.
  Value Fits() {
    const Value indices = p_.operand(1);
    const auto dims = view_.scatter_dims_to_operand_dims();
    if (dims.empty()) return b_.Full(xla::PRED, updates_.dims(), 1);
    const std::optional<int64_t> vector_dim = IndexVectorDim(indices->shape(), view_.index_vector_dim());
    const auto limits = LargestStarts(p_.operand_shape(0), indices->shape().element_type(), dims,
                                      [&](int64_t d) { return slice_sizes_[d]; });
    const Value high = PartLimits(b_, indices->shape(), vector_dim, limits);
    Value fits = b_.And(b_.Compare(indices, b_.FullLike(indices, 0), "GE"), b_.Compare(indices, high, "LE"));
    if (vector_dim) fits = b_.Reduce(Opcode::kAnd, fits, {*vector_dim});
    return b_.BroadcastOver(fits, updates_.dims(), view_.update_window_dims());
  }

  // 1, 2, .. for the elements of the updates.
  Value Numbers() {
    const Value numbers = b_.Iota(xla::S32, {updates_.NumElements()}, 0);
    return b_.Reshape(b_.Add(numbers, b_.FullLike(numbers, 1)), updates_.dims());
  }
  // By element of the operand: the number of the update that it comes from; 0 if none.
  Value ScatteredNumbers() {
    InstructionBuilder inner = b_.InNewComputation("newer");
    inner.Parameter(Shape(xla::S32, {}), "old");
    const Value update = inner.Parameter(Shape(xla::S32, {}), "new");
    return b_.Scatter(b_.Zeros(xla::S32, p_.operand_shape(0).dims()), p_.operand(1), Numbers(),
                      p_.op().attrs().scatter_dimension_numbers(), inner.Finish(update));
  }

  Pullback& p_;
  InstructionBuilder& b_;
  const ScatterView view_;
  const Shape updates_;
  std::vector<int64_t> slice_sizes_;
};

}  // namespace

namespace {

// A scatter into n arrays is n scatters, if the combiner of one array does not depend on the others.
absl::Status SeveralScattersGradient(Pullback& p) {
  return GradientByExpansion(
      p, [&](InstructionBuilder& b, absl::Span<const Value> operands) -> absl::StatusOr<Value> {
        const int n = (p.op().num_operands() - 1) / 2;
        const Computation& combiner = *p.op().called(0);
        const absl::Status combined = absl::UnimplementedError(
            "a scatter into several arrays that combines one with another has no gradient");
        if (combiner.root()->opcode() != Opcode::kTuple) return combined;
        std::vector<Value> results;
        for (int i = 0; i < n; ++i) {
          const Instruction *old = combiner.parameter(i), *update = combiner.parameter(n + i),
                            *now = combiner.root()->operand(i);
          InstructionBuilder inner = b.InNewComputation(absl::StrCat(combiner.name(), ".of_one"));
          const Value own_old = inner.Parameter(old->shape(), "old"),
                      own_update = inner.Parameter(update->shape(), "update");
          const bool of_both =
              now->num_operands() == 2 && ((now->operand(0) == old && now->operand(1) == update) ||
                                           (now->operand(0) == update && now->operand(1) == old));
          if (now != update && !of_both) return combined;
          Computation* of_one = inner.Finish(
              now == update ? own_update : inner.Clone(*now, now->shape(), {own_old, own_update}));
          results.push_back(b.Op(Opcode::kScatter, operands[i]->shape(),
                                 {operands[i], operands[n], operands[n + 1 + i]}, &p.op().attrs(), {of_one}));
        }
        return b.Tuple(results);
      });
}

}  // namespace

absl::Status ScatterGradient(Pullback& p) {
  if (p.op().num_operands() != 3) return SeveralScattersGradient(p);
  ScatterPullback pullback(p);
  const Computation& combiner = *p.op().called(0);
  if (combiner.root() == combiner.parameter(1)) {
    pullback.Overwrite();
    return absl::OkStatus();
  }
  const std::optional<Opcode> reducer = OneOpReducer(combiner);
  switch (reducer.value_or(Opcode::kUnknown)) {
    case Opcode::kAdd:
      pullback.Sum();
      return absl::OkStatus();
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      pullback.Extreme();
      return absl::OkStatus();
    case Opcode::kMultiply:
      return pullback.Product();
    default:
      return absl::UnimplementedError("a scatter by this combiner has no gradient");
  }
}

}  // namespace toroid
