// `dynamic-update-slice`: dimensions that the update fills pass through; on others every device writes the
// rows of the update that fall into its shard. If an update of several rows has a constant start, the update
// may be cut too: tile i of t rows fetches rows [i t - start, i t - start + t) of it by a halo exchange.
// Example: x[16:, 16:] = u for x f32[256,256] and u f32[240,240] over [4,4]: two permutes, of f32[12,60] and
//          f32[64,12], instead of gathering u.
#include <optional>

#include "hlo/analysis/constant_integer.h"
#include "partitioner/ops/op_family.h"
#include "partitioner/ops/start_indices.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {
// The start along dimension d, if it is a constant and the update has several rows but not all rows of the
// dimension.
std::optional<int64_t> ConstantPlace(const Instruction& op, int d) {
  const int64_t rows = op.operand(1)->shape().dim(d);
  return rows < 2 || rows == op.shape().dim(d) ? std::nullopt : ConstantStart(op, d);
}

ShardingRule DynamicUpdateSliceShardingRule(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  const Shape& update_shape = instruction.operand(1)->shape();
  ShardingRule rule;
  TensorFactors operand, update;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool spans = shape.dim(d) == update_shape.dim(d);
    const bool shifts = ConstantPlace(instruction, d).has_value();
    const FactorKind kind = spans    ? FactorKind::kPassThrough
                            : shifts ? FactorKind::kPermuting
                                     : FactorKind::kIndexed;
    operand.push_back(rule.AddFactor(shape.dim(d), kind));
    update.push_back(spans || shifts ? operand[d] : DimFactors());
  }
  rule.operands = {operand, update};
  for (int i = 2; i < instruction.num_operands(); ++i) {
    rule.operands.emplace_back(TensorFactors(instruction.operand(i)->shape().rank()));
  }
  rule.results.push_back(operand);
  rule.AddMoved(0b11);
  return rule;
}

std::vector<OperandWindows> ReadsOfDynamicUpdateSlice(const Instruction& op, int dim, int64_t tiles) {
  const std::optional<int64_t> start = ConstantPlace(op, dim);
  if (!start) return {};
  const int64_t t = TileRows(op, dim, tiles);
  return {{1, dim, {.scale = t, .shift = -*start, .length = t}, op.operand(1)->shape().dim(dim)}};
}

absl::StatusOr<std::vector<Instruction*>> PartitionDynamicUpdateSlice(OpContext& context) {
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
    Instruction* clamped = ClampedStart(b, context.operands[2 + d], shape.dim(d), k);
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
    Instruction* start = b.Subtract(b.IntScalar(shard, xla::S64), here);
    start = b.Maximum(start, b.IntScalar(0, xla::S64));
    start = b.Minimum(start, b.IntScalar(shard + k, xla::S64));
    update = b.DynamicSliceAlong(padded, d, start, shard);
  }
  return std::vector<Instruction*>{b.Select(mask, update, x)};
}

}  // namespace

const OpFamily families::kDynamicUpdateSlice = {DynamicUpdateSliceShardingRule, PartitionDynamicUpdateSlice,
                                                ReadsOfDynamicUpdateSlice};

}  // namespace toroid
