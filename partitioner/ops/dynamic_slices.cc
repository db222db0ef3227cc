// Slices at computed starts.
//
// `dynamic-slice`: dimensions that the slice spans pass through. A sliced dimension is indexed in the operand
// and never cut in the result.
//
// On a cut sliced dimension every device contributes the rows of [start, start + k) that it holds and zeros
// for the others; the result is partial. One row at a constant start is sliced from the shard that has it.
//
// `dynamic-update-slice`: dimensions that the update fills pass through; on others every device writes the
// rows of the update that fall into its shard. If an update of several rows has a constant start, the update
// may be cut too: tile i of t rows fetches rows [i t - start, i t - start + t) of it by a halo exchange.
// Example: x[16:, 16:] = u for x f32[256,256] and u f32[240,240] over [4,4]: two permutes, of f32[12,60] and
//          f32[64,12], instead of gathering u.
#include <optional>

#include "hlo/analysis/constant_integer.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

ShardingRule DynamicSliceShardingRule(const Instruction& op) {
  const Shape& from = op.operand(0)->shape();
  ShardingRule rule = MovedRule(from.dims());
  for (int d = 0; d < from.rank(); ++d) {
    if (from.dim(d) == op.shape().dim(d)) continue;
    rule.factors[d].kind = FactorKind::kIndexed;
    rule.results[0][d] = DimFactors();
  }
  for (int i = 1; i < op.num_operands(); ++i) {
    rule.operands.emplace_back(TensorFactors(op.operand(i)->shape().rank()));
  }
  rule.indexed_is_partial = true;
  return rule;
}

// The result as a static slice of the shard, if all starts are constants and each cut sliced dimension is
// sliced to one row; null otherwise.
Instruction* SliceOfShard(OpContext& context, const Shape& local) {
  SpmdBuilder& b = *context.b;
  const Instruction& op = *context.op;
  Dims starts(local.rank()), limits(local.rank());
  Instruction* mask = nullptr;
  for (int d = 0; d < local.rank(); ++d) {
    const int64_t n = op.operand(0)->shape().dim(d), k = op.shape().dim(d);
    limits[d] = local.dim(d);
    if (n == k) continue;
    const std::optional<int64_t> start = ConstantStart(op, d);
    if (!start || (context.IsCut(0, d) && k != 1)) return nullptr;
    starts[d] = *start;
    if (context.IsCut(0, d)) {
      const int64_t tile = context.operands[0]->shape().dim(d);
      starts[d] = *start % tile;
      Instruction* has = b.Compare(b.Coordinate(context.AxesOf(0, d)), b.IntScalar(*start / tile), "EQ");
      mask = mask == nullptr ? has : b.And(mask, has);
    }
    limits[d] = starts[d] + k;
  }
  Instruction* rows = b.Slice(context.operands[0], starts, limits);
  if (mask == nullptr) return rows;
  return b.Select(b.Broadcast(mask, local.dims()), rows,
                  b.Broadcast(b.Zero(local.element_type()), local.dims()));
}

std::vector<Instruction*> PartitionDynamicSlice(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const Shape& from = context.op->operand(0)->shape();
  Instruction* x = context.operands[0];
  const Shape local = context.ResultShape();
  if (Instruction* rows = SliceOfShard(context, local)) return {rows};
  // Dimensions that pass through only change in size.
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  attrs->clear_dynamic_slice_sizes();
  for (int d = 0; d < local.rank(); ++d) attrs->add_dynamic_slice_sizes(local.dim(d));
  Instruction* mask = nullptr;
  // Along a cut dimension: pads the shard by k rows on both sides, so that every start is in range, slices k
  // rows, and masks those that are outside of the shard.
  for (int d = 0; d < from.rank(); ++d) {
    Instruction*& start = context.operands[1 + d];
    const int64_t k = local.dim(d);
    if (from.dim(d) == context.op->shape().dim(d) || !context.IsCut(0, d)) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const int64_t shard = x->shape().dim(d);
    Instruction* clamped = b.ClampedStart(start, from.dim(d), k);
    // The start counted from the shard's first row.
    Instruction* here = b.Subtract(clamped, b.Offset(axes, shard, xla::S64));
    x = b.PadAlong(x, d, k, k);
    start = b.ClampedStart(b.Add(here, b.IntScalar(k, xla::S64)), shard + 2 * k, k);
    // Result row i is valid where 0 <= here + i < shard.
    Instruction* lo = b.Subtract(b.IntScalar(0, xla::S64), here);
    Instruction* hi = b.Subtract(b.IntScalar(shard, xla::S64), here);
    Instruction* in = b.InRange(local.dims(), d, lo, hi);
    mask = mask == nullptr ? in : b.And(mask, in);
  }
  if (mask == nullptr) return context.CloneLocal(attrs);
  // Start indices must all have one type.
  for (int d = 0; d < from.rank(); ++d) {
    Instruction*& start = context.operands[1 + d];
    if (start->shape().element_type() != xla::S64)
      start = b.ClampedStart(start, from.dim(d), context.op->shape().dim(d));
  }
  context.operands[0] = x;
  std::vector<Instruction*> rows = context.CloneLocal(attrs);
  rows[0] = b.Select(mask, rows[0], b.Broadcast(b.Zero(local.element_type()), local.dims()));
  return rows;
}

// The start along dimension d, if it is a constant and the update has several rows but not all rows of the
// dimension.
std::optional<int64_t> ConstantPlace(const Instruction& op, int d) {
  const int64_t rows = op.operand(1)->shape().dim(d);
  return rows < 2 || rows == op.shape().dim(d) ? std::nullopt : ConstantStart(op, d);
}

ShardingRule DynamicUpdateSliceShardingRule(const Instruction& op) {
  const Shape& shape = op.shape();
  ShardingRule rule = PointwiseRule(shape.dims(), 2);
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) == op.operand(1)->shape().dim(d)) continue;
    const bool shifts = ConstantPlace(op, d).has_value();
    rule.factors[d].kind = shifts ? FactorKind::kPermuting : FactorKind::kIndexed;
    if (!shifts) rule.operands[1][d] = DimFactors();
  }
  for (int i = 2; i < op.num_operands(); ++i) {
    rule.operands.emplace_back(TensorFactors(op.operand(i)->shape().rank()));
  }
  rule.AddMoved(0b11);
  return rule;
}

std::vector<OperandWindows> ReadsOfDynamicUpdateSlice(const Instruction& op, int dim, int64_t tiles) {
  const std::optional<int64_t> start = ConstantPlace(op, dim);
  if (!start) return {};
  const int64_t t = TileRows(op, dim, tiles);
  return {{1, dim, {.scale = t, .shift = -*start, .length = t}, op.operand(1)->shape().dim(dim)}};
}

std::vector<Instruction*> PartitionDynamicUpdateSlice(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const Shape& shape = context.op->shape();
  const Shape& update_shape = context.op->operand(1)->shape();
  bool rewrite = false;
  for (int d = 0; d < shape.rank(); ++d)
    rewrite |= shape.dim(d) != update_shape.dim(d) && context.IsCut(0, d);
  if (!rewrite) return context.CloneLocal();
  // With `here`, the start counted from the shard's first row: shard row j becomes update row j - here, if
  // there is one.
  Instruction* x = context.operands[0];
  Instruction* update = context.operands[1];
  const Dims local(x->shape().dims().begin(), x->shape().dims().end());
  Instruction* mask = nullptr;
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t k = update_shape.dim(d);
    if (shape.dim(d) == k) continue;
    const int64_t shard = local[d];
    Instruction* clamped = b.ClampedStart(context.operands[2 + d], shape.dim(d), k);
    Instruction* here = b.Subtract(clamped, b.Offset(context.AxesOf(0, d), shard, xla::S64));
    Instruction* hi = b.Add(here, b.IntScalar(k, xla::S64));
    Instruction* in = b.InRange(local, d, here, hi);
    mask = mask == nullptr ? in : b.And(mask, in);
    if (context.IsCut(1, d)) {
      // The update is cut: fetches its rows, in place.
      const AxisList& axes = context.AxesOf(0, d);
      const OperandWindows read = ReadsOfDynamicUpdateSlice(*context.op, d, b.mesh().Product(axes))[0];
      update = FetchWindow(b, update, d, read.size, axes, axes, read.windows);
      continue;
    }
    // The update is whole: pads it by a shard's rows on both sides, and slices the window that puts it at
    // `here`.
    Instruction* padded = b.PadAlong(update, d, shard, shard);
    Instruction* start = b.ClampedStart(b.Subtract(b.IntScalar(shard, xla::S64), here), 2 * shard + k, shard);
    update = b.DynamicSliceAlong(padded, d, start, shard);
  }
  return {b.Select(mask, update, x)};
}

}  // namespace

const OpFamily families::kDynamicSlice = {DynamicSliceShardingRule, PartitionDynamicSlice};
const OpFamily families::kDynamicUpdateSlice = {DynamicUpdateSliceShardingRule, PartitionDynamicUpdateSlice,
                                                ReadsOfDynamicUpdateSlice};

}  // namespace toroid
