#include "partitioner/ops/dynamic_update_slice.h"

#include "partitioner/ops/start_indices.h"

namespace toroid {

ShardingRule DynamicUpdateSliceShardingRule(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  const Shape& update_shape = instruction.operand(1)->shape();
  ShardingRule rule;
  TensorFactors operand, update;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool spans = shape.dim(d) == update_shape.dim(d);
    operand.push_back(rule.AddFactor(shape.dim(d), spans ? FactorKind::kPassThrough : FactorKind::kIndexed));
    update.push_back(spans ? operand[d] : DimFactors());
  }
  rule.operands = {operand, update};
  for (int i = 2; i < instruction.num_operands(); ++i) {
    rule.operands.emplace_back(TensorFactors(instruction.operand(i)->shape().rank()));
  }
  rule.results.push_back(operand);
  rule.AddMoved(0b11);
  return rule;
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

}  // namespace toroid
