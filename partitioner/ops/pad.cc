#include "partitioner/ops/pad.h"

#include "hlo/ir/attribute_views.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {

ShardingRule PadShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), 1);
  rule.operands.emplace_back();  // The padding value, a scalar.
  for (int d = 0; d < instruction.shape().rank(); ++d) {
    const EdgePadding padding = PadView(instruction)[d];
    if (padding.low != 0 || padding.high != 0 ||
        (padding.interior != 0 && instruction.operand(0)->shape().dim(d) > 1)) {
      rule.factors[d].kind = FactorKind::kPermuting;
    }
  }
  return rule;
}

std::vector<OperandWindows> ReadsOfPad(const Instruction& op, int dim, int64_t tiles) {
  const int64_t t = TileRows(op, dim, tiles);
  const EdgePadding padding = PadView(op)[dim];
  const int64_t step = padding.interior + 1;
  const TileWindows windows = {t, -padding.low, RowsSpanning(t, step), step};
  return {{0, dim, windows, op.operand(0)->shape().dim(dim)}};
}

absl::StatusOr<std::vector<Instruction*>> PartitionPad(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  const Shape local = context.ResultShape();
  for (int d = 0; d < local.rank(); ++d) {
    if (!context.IsCut(0, d) ||
        context.rule->factors[context.rule->results[0][d].factor[0]].kind != FactorKind::kPermuting) {
      continue;
    }
    const AxisList& axes = context.AxesOf(0, d);
    const TileWindows windows = ReadsOfPad(*context.op, d, b.mesh().Product(axes))[0].windows;
    context.operands[0] = FetchSpreadWindow(b, context.operands[0], {d, context.GlobalDim(0, d), axes}, windows,
                                            local.dim(d), context.operands[1]);
    PadView::Set(attrs, d, EdgePadding());
  }
  return context.CloneLocal(attrs);
}

}  // namespace toroid
