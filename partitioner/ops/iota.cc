// `iota`: the local iota plus the offset of the shard along the iota's dimension.
//
// Example: iota s32[8] over 2: partition 1 computes [0, 1, 2, 3] + 4.
#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {

ShardingRule IotaShardingRule(const Instruction& instruction) {
  return PointwiseRule(instruction.shape().dims(), 0);
}

absl::StatusOr<std::vector<Instruction*>> PartitionIota(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int64_t d = context.op->dimension();
  const AxisList& axes = context.results[0].dims[d];
  if (axes.empty()) return context.CloneLocal();
  // Counts in integers and converts the sum. In the element type, offset and local index might each be
  // rounded.
  const Shape local = context.ResultShape();
  const PrimitiveType type = SpmdBuilder::IndexType(local.dim(d) * b.mesh().Product(axes));
  Instruction* iota = b.Iota(type, local.dims(), d);
  iota = b.Add(iota, b.Broadcast(b.Offset(axes, local.dim(d), type), local.dims()));
  return std::vector<Instruction*>{b.Convert(iota, local.element_type())};
}

}  // namespace

const OpFamily families::kIota = {IotaShardingRule, PartitionIota};

}  // namespace toroid
