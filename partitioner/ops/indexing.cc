// Local programs of ops that address an operand by computed indices.
//
// On a cut indexed dimension start indices are clamped against the full dimension first, then moved into the
// shard's coordinates; a partition contributes what it holds and zeros elsewhere, and the contributions add
// up.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/local_program.h"

namespace toroid {
namespace {

// As s64; what u64 holds beyond the range of s64 becomes its largest value, which lies behind every array.
Instruction* ToS64(SpmdBuilder& b, Instruction* index) {
  if (index->shape().element_type() == xla::U64) {
    Instruction* top = b.Broadcast(b.IntScalar(INT64_MAX, xla::U64), index->shape().dims());
    index = b.Binary(Opcode::kMinimum, index, top);
  }
  return b.Convert(index, xla::S64);
}

// A start index clamped to [0, size - window], as s64.
Instruction* ClampedStart(SpmdBuilder& b, Instruction* index, int64_t size, int64_t window) {
  Instruction* wide = ToS64(b, index);
  const auto dims = index->shape().dims();
  wide = b.Binary(Opcode::kMaximum, wide, b.Broadcast(b.IntScalar(0, xla::S64), dims));
  return b.Binary(Opcode::kMinimum, wide, b.Broadcast(b.IntScalar(size - window, xla::S64), dims));
}

}  // namespace

absl::StatusOr<std::vector<Instruction*>> PartitionDynamicSlice(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const Shape& from = context.op->operand(0)->shape();
  Instruction* x = context.operands[0];
  // Dimensions that pass through: only the sizes change.
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  const Shape local = context.ResultShape();
  attrs->clear_dynamic_slice_sizes();
  for (int d = 0; d < local.rank(); ++d) attrs->add_dynamic_slice_sizes(local.dim(d));
  Instruction* mask = nullptr;
  bool rewrite = false;
  for (int d = 0; d < from.rank(); ++d)
    rewrite |= from.dim(d) != context.op->shape().dim(d) && context.IsCut(0, d);
  if (!rewrite) return context.CloneLocal(attrs);
  // Rows [start, start + k) of a cut dimension: those in the shard, shifted by a padding of k on both sides
  // so that every start is in range, masked to the valid part.
  for (int d = 0; d < from.rank(); ++d) {
    Instruction*& start = context.operands[1 + d];
    const int64_t k = local.dim(d);
    if (from.dim(d) == context.op->shape().dim(d) || !context.IsCut(0, d)) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const int64_t shard = x->shape().dim(d);
    Instruction* clamped = ClampedStart(b, start, from.dim(d), k);
    Instruction* here =
        b.Binary(Opcode::kSubtract, clamped, b.Offset(axes, shard, xla::S64));  // In the shard.
    x = b.PadAlong(x, d, k, k);
    start = b.Binary(Opcode::kAdd, here, b.IntScalar(k, xla::S64));
    start = b.Binary(Opcode::kMaximum, start, b.IntScalar(0, xla::S64));
    start = b.Binary(Opcode::kMinimum, start, b.IntScalar(shard + k, xla::S64));
    // Result row i is valid where 0 <= here + i < shard.
    Instruction* lo = b.Binary(Opcode::kSubtract, b.IntScalar(0, xla::S64), here);
    Instruction* hi = b.Binary(Opcode::kSubtract, b.IntScalar(shard, xla::S64), here);
    Instruction* in = b.InRange(local.dims(), d, lo, hi);
    mask = mask == nullptr ? in : b.Binary(Opcode::kAnd, mask, in);
  }
  // All start indices in one type.
  for (int d = 0; d < from.rank(); ++d) {
    Instruction*& start = context.operands[1 + d];
    if (start->shape().element_type() != xla::S64)
      start = ClampedStart(b, start, from.dim(d), context.op->shape().dim(d));
  }
  context.operands[0] = x;
  std::vector<Instruction*> rows = context.CloneLocal(attrs);
  rows[0] = b.Select(mask, rows[0], b.Broadcast(b.Zero(local.element_type()), local.dims()));
  return rows;
}

absl::StatusOr<std::vector<Instruction*>> PartitionDynamicUpdateSlice(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const Shape& shape = context.op->shape();
  const Shape& update_shape = context.op->operand(1)->shape();
  bool rewrite = false;
  for (int d = 0; d < shape.rank(); ++d)
    rewrite |= shape.dim(d) != update_shape.dim(d) && context.IsCut(0, d);
  if (!rewrite) return context.CloneLocal();
  // Row j of the shard becomes update row j - here where that is one; `here` is the start in the shard.
  Instruction* x = context.operands[0];
  Instruction* update = context.operands[1];
  const Dims local(x->shape().dims().begin(), x->shape().dims().end());
  Instruction* mask = nullptr;
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t k = update->shape().dim(d);
    if (shape.dim(d) == update_shape.dim(d)) continue;
    const int64_t shard = local[d];
    Instruction* clamped = ClampedStart(b, context.operands[2 + d], shape.dim(d), update_shape.dim(d));
    Instruction* here = b.Binary(Opcode::kSubtract, clamped, b.Offset(context.AxesOf(0, d), shard, xla::S64));
    Instruction* hi = b.Binary(Opcode::kAdd, here, b.IntScalar(k, xla::S64));
    Instruction* in = b.InRange(local, d, here, hi);
    mask = mask == nullptr ? in : b.Binary(Opcode::kAnd, mask, in);
    // The update placed at `here`: a window of the update padded by a shard on both sides.
    Instruction* padded = b.PadAlong(update, d, shard, shard);
    Instruction* start = b.Binary(Opcode::kSubtract, b.IntScalar(shard, xla::S64), here);
    start = b.Binary(Opcode::kMaximum, start, b.IntScalar(0, xla::S64));
    start = b.Binary(Opcode::kMinimum, start, b.IntScalar(shard + k, xla::S64));
    update = b.DynamicSliceAlong(padded, d, start, shard);
  }
  return std::vector<Instruction*>{b.Select(mask, update, x)};
}

absl::StatusOr<std::vector<Instruction*>> PartitionGather(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const GatherView numbers(*context.op);
  const Shape& from = context.op->operand(0)->shape();
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  Instruction* operand = context.operands[0];
  Instruction*& indices = context.operands[1];
  // Windows that take a dimension whole take the local dimension whole.
  for (int d = 0; d < from.rank(); ++d) {
    if (numbers.slice_sizes()[d] == from.dim(d) && from.dim(d) != 1) {
      GatherView::SetSliceSize(attrs, d, operand->shape().dim(d));
    }
  }
  Instruction* mask = nullptr;  // Over the indices without the index vector: who holds the element.
  const int vector_dim = numbers.index_vector_dim();
  const bool scalar_indices = vector_dim == indices->shape().rank();
  Dims batch;
  for (int d = 0; d < indices->shape().rank(); ++d) {
    if (d != vector_dim) batch.push_back(indices->shape().dim(d));
  }
  for (int k = 0; k < static_cast<int>(numbers.start_index_map().size()); ++k) {
    const int d = static_cast<int>(numbers.start_index_map()[k]);
    const bool collapsed = absl::c_linear_search(numbers.collapsed_slice_dims(), d);
    if (!collapsed || !context.IsCut(0, d)) continue;
    const int64_t shard = operand->shape().dim(d);
    Instruction* component = indices;
    if (!scalar_indices) component = b.SliceAlong(component, vector_dim, k, k + 1);
    Instruction* clamped = ClampedStart(b, component, from.dim(d), 1);
    const auto dims = component->shape().dims();
    Instruction* local = b.Binary(Opcode::kSubtract, clamped,
                                  b.Broadcast(b.Offset(context.AxesOf(0, d), shard, xla::S64), dims));
    Instruction* in =
        b.Binary(Opcode::kAnd, b.Compare(local, b.Broadcast(b.IntScalar(0, xla::S64), dims), "GE"),
                 b.Compare(local, b.Broadcast(b.IntScalar(shard, xla::S64), dims), "LT"));
    in = b.Reshape(in, batch);
    mask = mask == nullptr ? in : b.Binary(Opcode::kAnd, mask, in);
    // The gather clamps again; what it then reads from outside is masked.
    Instruction* wide = ToS64(b, indices);
    if (scalar_indices) {
      indices = local;
    } else {
      std::vector<Instruction*> pieces;
      if (k > 0) pieces.push_back(b.SliceAlong(wide, vector_dim, 0, k));
      pieces.push_back(local);
      if (k + 1 < static_cast<int>(numbers.start_index_map().size())) {
        pieces.push_back(b.SliceAlong(wide, vector_dim, k + 1, static_cast<int>(numbers.start_index_map().size())));
      }
      indices = b.Concatenate(pieces, vector_dim);
    }
  }
  std::vector<Instruction*> result = context.CloneLocal(attrs);
  if (mask == nullptr) return result;
  // Batch dimensions of the result are those not in offset_dims, in order.
  const Dims out(result[0]->shape().dims().begin(), result[0]->shape().dims().end());
  Instruction* wide_mask = b.BroadcastOver(mask, out, numbers.offset_dims());
  result[0] = b.Select(wide_mask, result[0], b.Broadcast(b.Zero(result[0]->shape().element_type()), out));
  return result;
}

absl::StatusOr<std::vector<Instruction*>> PartitionScatter(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const ScatterView numbers(*context.op);
  const int n = context.op->num_operands() / 2;
  const Shape& to = context.op->operand(0)->shape();
  Instruction*& indices = context.operands[n];
  const int vector_dim = numbers.index_vector_dim();
  const bool scalar_indices = vector_dim == indices->shape().rank();
  // Padding of cut batch dimensions adds zeros, wherever its indices point.
  bool partial = false;
  const Shape& updates_shape = context.op->operand(n + 1)->shape();
  for (int d = 0; d < updates_shape.rank(); ++d) {
    const bool window = absl::c_linear_search(numbers.update_window_dims(), d);
    const FactorKind kind = window || !context.IsCut(n + 1, d)
                                ? FactorKind::kPassThrough
                                : context.rule->factors[context.rule->operands[n + 1][d].factor[0]].kind;
    if (kind != FactorKind::kReduction) continue;
    partial = true;
    Instruction*& updates = context.operands[n + 1];
    updates = b.MaskPadding(updates, d, updates_shape.dim(d), context.AxesOf(n + 1, d),
                            b.Zero(updates->shape().element_type()));
  }
  // Indices into cut dimensions move into the shard; those of other shards fall outside and are dropped.
  for (int k = 0; k < static_cast<int>(numbers.scatter_dims_to_operand_dims().size()); ++k) {
    const int d = static_cast<int>(numbers.scatter_dims_to_operand_dims()[k]);
    const bool inserted = absl::c_linear_search(numbers.inserted_window_dims(), d);
    if (!inserted || !context.IsCut(0, d)) continue;
    const int64_t shard = CeilOfRatio(to.dim(d), b.mesh().Product(context.AxesOf(0, d)));
    Instruction* wide = ToS64(b, indices);
    Instruction* component = scalar_indices ? wide : b.SliceAlong(wide, vector_dim, k, k + 1);
    const auto dims = component->shape().dims();
    Instruction* offset = b.Broadcast(b.Offset(context.AxesOf(0, d), shard, xla::S64), dims);
    Instruction* local = b.Binary(Opcode::kSubtract, component, offset);
    // What lies past the global end may fall into the padding of the last shard, which nobody reads.
    if (scalar_indices) {
      indices = local;
    } else {
      std::vector<Instruction*> pieces;
      const int components = static_cast<int>(numbers.scatter_dims_to_operand_dims().size());
      if (k > 0) pieces.push_back(b.SliceAlong(wide, vector_dim, 0, k));
      pieces.push_back(local);
      if (k + 1 < components) pieces.push_back(b.SliceAlong(wide, vector_dim, k + 1, components));
      indices = b.Concatenate(pieces, vector_dim);
    }
  }
  if (!partial) return context.CloneLocal();
  // Each partition scatters its updates onto zeros; the operand enters once, after the sum.
  Instruction* operand = context.operands[0];
  context.operands[0] = b.Broadcast(b.Zero(operand->shape().element_type()), operand->shape().dims());
  std::vector<Instruction*> result = context.CloneLocal();
  if (context.results[0].partial != 0) {
    const AxisList axes = b.mesh().InOrder(context.results[0].partial);
    // Only the first partition of the group adds the operand.
    Instruction* first = b.Compare(b.Coordinate(axes), b.IntScalar(0), "EQ");
    operand = b.Select(b.Broadcast(first, operand->shape().dims()), operand, context.operands[0]);
  }
  result[0] = b.Binary(Opcode::kAdd, result[0], operand);
  return result;
}

}  // namespace toroid
