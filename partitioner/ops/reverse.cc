// `reverse`: one permute exchanges each tile with its mirror image in all cut dimensions, and each device
// reverses its tile. If the last tile of a dimension is short, a halo exchange then moves all rows up by the
// rows that it lacks: tile i of s rows reads s rows of the reversed tiles, from row i s + s tiles - n on.
#include "partitioner/ops/reverse.h"

#include "partitioner/ops/op_family.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {

namespace {

// The rows of the reversed tiles that tile i of t rows reads; all rows move up by the padding of the last
// tile.
TileWindows WindowsOfReversed(int64_t n, int64_t t, int64_t tiles) { return {t, t * tiles - n, t}; }

// Exchanges tile i along `axes` with tile tiles - 1 - i.
Instruction* MirrorTiles(SpmdBuilder& b, Instruction* x, const AxisList& axes) {
  const int64_t tiles = b.mesh().Product(axes);
  xla::PermutePattern pattern = b.PatternAlong(axes);
  xla::PermutePattern::Line* line = pattern.add_lines();
  line->set_count(tiles);
  line->set_source_step(1);
  line->set_target(tiles - 1);
  line->set_target_step(-1);
  return b.CollectivePermute(x, pattern);
}

}  // namespace

Instruction* ReverseCut(SpmdBuilder& b, Instruction* x, int d, int64_t n, const AxisList& axes) {
  const int64_t t = x->shape().dim(d), tiles = b.mesh().Product(axes);
  x = b.Reverse(MirrorTiles(b, x, axes), {d});
  return t * tiles == n ? x : FetchWindow(b, x, d, t * tiles, axes, axes, WindowsOfReversed(n, t, tiles));
}

namespace {

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
  if (size == op.shape().dim(dim)) return {};
  return {{0, dim, WindowsOfReversed(op.shape().dim(dim), t, tiles), size}};
}

absl::StatusOr<std::vector<Instruction*>> PartitionReverse(OpContext& context) {
  SpmdBuilder& b = *context.b;
  // One permute along the axes of all dimensions mirrors the tiles in all dimensions at once.
  AxisList axes;
  for (const int64_t d : context.op->dimensions()) {
    if (context.IsCut(0, d)) axes.Append(context.AxesOf(0, d));
  }
  if (!axes.empty()) context.operands[0] = MirrorTiles(b, context.operands[0], axes);
  std::vector<Instruction*> result = context.CloneLocal();
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

}  // namespace

const OpFamily families::kReverse = {ReverseShardingRule, PartitionReverse, ReadsOfReverse};

}  // namespace toroid
