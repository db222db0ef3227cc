// `slice`: y[r] = x[start + stride r]. Tile i of t rows reads (t - 1) stride + 1 rows of x, from row i t
// stride + start on. A halo exchange fetches them, and the local slice strides over them.
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_family.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

ShardingRule SliceShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), 1);
  for (int d = 0; d < instruction.shape().rank(); ++d) {
    const SliceBounds slice = SliceView(instruction)[d];
    const int64_t size = instruction.operand(0)->shape().dim(d);
    if (slice.start != 0 || slice.limit != size || slice.stride != 1) {
      rule.factors[d].kind = FactorKind::kPermuting;
    }
  }
  rule.AddMoved(0b1);
  return rule;
}

std::vector<OperandWindows> ReadsOfSlice(const Instruction& op, int dim, int64_t tiles) {
  const int64_t t = TileRows(op, dim, tiles);
  const SliceBounds bounds = SliceView(op)[dim];
  const TileWindows windows = {t * bounds.stride, bounds.start, (t - 1) * bounds.stride + 1};
  const int64_t rows = op.shape().dim(dim);  // No tile needs operand rows after the last one of these.
  return {{0, dim, windows, rows == 0 ? 0 : bounds.start + (rows - 1) * bounds.stride + 1,
           op.operand(0)->shape().dim(dim)}};
}

absl::StatusOr<std::vector<Instruction*>> PartitionSlice(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  const Shape local = context.ResultShape();
  for (int d = 0; d < local.rank(); ++d) {
    const SliceBounds bounds = SliceView(*context.op)[d];
    const int64_t n = context.GlobalDim(0, d);
    if (!context.IsCut(0, d)) continue;
    if (bounds.start != 0 || bounds.limit != n || bounds.stride != 1) {
      const AxisList& axes = context.AxesOf(0, d);
      const OperandWindows read = ReadsOfSlice(*context.op, d, b.mesh().Product(axes))[0];
      context.operands[0] = FetchWindow(b, context.operands[0], d, read.size, axes, axes, read.windows);
    }
    SliceView::Set(attrs, d, {0, context.operands[0]->shape().dim(d), bounds.stride});
  }
  return context.CloneLocal(attrs);
}

}  // namespace

const OpFamily families::kSlice = {SliceShardingRule, PartitionSlice, ReadsOfSlice};

}  // namespace toroid
