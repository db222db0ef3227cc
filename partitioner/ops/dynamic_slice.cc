// `dynamic-slice`: dimensions that the slice spans pass through. A sliced dimension is indexed in the operand
// and never cut in the result.
//
// On a cut sliced dimension every device contributes the rows of [start, start + k) that it holds and zeros
// for the others; the result is partial. One row at a constant start is sliced from the shard that has it.
#include <optional>

#include "hlo/analysis/constant_integer.h"
#include "partitioner/ops/op_family.h"
#include "partitioner/ops/start_indices.h"

namespace toroid {
namespace {

ShardingRule DynamicSliceShardingRule(const Instruction& instruction) {
  const Shape& from = instruction.operand(0)->shape();
  ShardingRule rule;
  TensorFactors operand, result;
  for (int d = 0; d < from.rank(); ++d) {
    if (from.dim(d) == instruction.shape().dim(d)) {
      operand.push_back(rule.AddFactor(from.dim(d)));
      result.push_back(operand[d]);
    } else {
      operand.push_back(rule.AddFactor(from.dim(d), FactorKind::kIndexed));
      result.push_back(DimFactors());
    }
  }
  rule.operands.push_back(operand);
  for (int i = 1; i < instruction.num_operands(); ++i) {
    rule.operands.emplace_back(TensorFactors(instruction.operand(i)->shape().rank()));
  }
  rule.results.push_back(result);
  rule.indexed_is_partial = true;
  rule.AddMoved(0b1);
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

absl::StatusOr<std::vector<Instruction*>> PartitionDynamicSlice(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const Shape& from = context.op->operand(0)->shape();
  Instruction* x = context.operands[0];
  const Shape local = context.ResultShape();
  if (Instruction* rows = SliceOfShard(context, local)) return std::vector<Instruction*>{rows};
  // Dimensions that pass through only change in size.
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  attrs->clear_dynamic_slice_sizes();
  for (int d = 0; d < local.rank(); ++d) attrs->add_dynamic_slice_sizes(local.dim(d));
  Instruction* mask = nullptr;
  bool rewrite = false;
  for (int d = 0; d < from.rank(); ++d)
    rewrite |= from.dim(d) != context.op->shape().dim(d) && context.IsCut(0, d);
  if (!rewrite) return context.CloneLocal(attrs);
  // Along a cut dimension: pads the shard by k rows on both sides, so that every start is in range, slices k
  // rows, and masks those that are outside of the shard.
  for (int d = 0; d < from.rank(); ++d) {
    Instruction*& start = context.operands[1 + d];
    const int64_t k = local.dim(d);
    if (from.dim(d) == context.op->shape().dim(d) || !context.IsCut(0, d)) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const int64_t shard = x->shape().dim(d);
    Instruction* clamped = ClampedStart(b, start, from.dim(d), k);
    // The start counted from the shard's first row.
    Instruction* here = b.Subtract(clamped, b.Offset(axes, shard, xla::S64));
    x = b.PadAlong(x, d, k, k);
    start = b.Add(here, b.IntScalar(k, xla::S64));
    start = b.Maximum(start, b.IntScalar(0, xla::S64));
    start = b.Minimum(start, b.IntScalar(shard + k, xla::S64));
    // Result row i is valid where 0 <= here + i < shard.
    Instruction* lo = b.Subtract(b.IntScalar(0, xla::S64), here);
    Instruction* hi = b.Subtract(b.IntScalar(shard, xla::S64), here);
    Instruction* in = b.InRange(local.dims(), d, lo, hi);
    mask = mask == nullptr ? in : b.And(mask, in);
  }
  // Start indices must all have one type.
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

}  // namespace

const OpFamily families::kDynamicSlice = {DynamicSliceShardingRule, PartitionDynamicSlice};

}  // namespace toroid
