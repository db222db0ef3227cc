// `pad` on tiled dimensions, by halo exchange.
//
// Global:  y[r] = x[(r - low) / (interior + 1)] where that is a row of x, `value` elsewhere.
// Shard:   tile i of t rows reads x from row ceil((i t - low) / (interior + 1)) on: the rows of x that lie in
//          [i t, i t + t) of y. Positions before, between and after rows of x become `value`.
//          If x is a slice, the tile fetches rows of the sliced array (read_through.h).
// Example: f32[8] padded by low = 2 over 2: t = 5, tile 1 reads x[3, 8) and gets row 3 from tile 0.
#include <algorithm>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_family.h"
#include "partitioner/ops/read_through.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

ShardingRule PadShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), 1);
  rule.operands.emplace_back();  // The padding value, a scalar.
  for (int d = 0; d < instruction.shape().rank(); ++d) {
    const EdgePadding padding = PadView(instruction)[d];
    const Instruction& source = PadSource(instruction, 0);
    const SliceBounds rows = RowsOfSource(instruction, 0, source, d);
    if (padding.low != 0 || padding.high != 0 || rows.start != 0 || rows.limit != source.shape().dim(d) ||
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
  const SliceBounds rows = RowsOfSource(op, 0, PadSource(op, 0), dim);
  TileWindows windows = SpreadWindows(t, rows.start * step - padding.low, t, step);
  windows.first = rows.start;
  // A negative high edge drops rows at the end of x: y has the first `taken` ones.
  const int64_t taken = FloorOfRatio(op.shape().dim(dim) - 1 - padding.low, step) + 1;
  return {{0, dim, windows, std::clamp(rows.start + taken, rows.start, rows.limit),
           PadSource(op, 0).shape().dim(dim)}};
}

absl::StatusOr<std::vector<Instruction*>> PartitionPad(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  const Shape local = context.ResultShape();
  for (int d = 0; d < local.rank(); ++d) {
    const SliceBounds rows = RowsOfSource(*context.op, 0, PadSource(*context.op, 0), d);
    if (!context.IsCut(0, d)) {
      if (rows.limit - rows.start == context.operands[0]->shape().dim(d)) continue;
      context.operands[0] = b.SliceAlong(context.operands[0], d, rows.start, rows.limit);
      continue;
    }
    if (context.rule->factors[context.rule->results[0][d].factor[0]].kind != FactorKind::kPermuting) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const OperandWindows read = ReadsOfPad(*context.op, d, b.mesh().Product(axes))[0];
    context.operands[0] = FetchSpreadWindow(b, context.operands[0], {d, read.size, axes}, read.windows,
                                            local.dim(d), context.operands[1]);
    PadView::Set(attrs, d, EdgePadding());
  }
  return context.CloneLocal(attrs);
}

}  // namespace

const OpFamily families::kPad = {PadShardingRule, PartitionPad, ReadsOfPad, PadSource};

}  // namespace toroid
