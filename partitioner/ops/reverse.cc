#include "partitioner/ops/reverse.h"

#include "hlo/base/math.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {

ShardingRule ReverseShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), 1);
  for (const int64_t d : instruction.dimensions()) {
    if (rule.factors[d].size > 1) rule.factors[d].kind = FactorKind::kPermuting;
  }
  rule.AddMoved(0b1);
  return rule;
}

std::vector<OperandWindows> ReadsOfReverse(const Instruction& op, int dim, int64_t tiles) {
  const int64_t t = TileRows(op, dim, tiles);
  const int64_t size = t * tiles;
  const int64_t lacking = size - op.shape().dim(dim);
  if (lacking == 0) return {};
  return {{0, dim, {t, lacking, t}, size}};
}

int64_t BytesSentByReverse(const Instruction&, int, int64_t, absl::Span<const double> operand_bytes, int64_t halo) {
  return halo + static_cast<int64_t>(operand_bytes[0]);
}

absl::StatusOr<std::vector<Instruction*>> PartitionReverse(OpContext& context) {
  SpmdBuilder& b = *context.b;
  std::vector<Instruction*> result;
  for (const int64_t d : context.op->dimensions()) {
    if (!context.IsCut(0, d)) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const Mesh& mesh = b.mesh();
    SpmdBuilder::PositionPairs pairs;
    const std::vector<int64_t> at = mesh.Positions(axes);
    for (const int64_t other : mesh.Positions(mesh.InOrder(mesh.AllAxes() & ~axes.Set()))) {
      for (size_t i = 0; i < at.size(); ++i) pairs.emplace_back(at[i] + other, at[at.size() - 1 - i] + other);
    }
    context.operands[0] = b.CollectivePermute(context.operands[0], pairs);
  }
  result = context.CloneLocal();
  for (const int64_t d : context.op->dimensions()) {
    if (!context.IsCut(0, d)) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const int64_t tiles = b.mesh().Product(axes);
    for (const OperandWindows& read : ReadsOfReverse(*context.op, d, tiles)) {
      result[0] = FetchWindow(b, result[0], d, read.size, axes, axes, read.windows);
    }
  }
  return result;
}

}  // namespace toroid
