// Ops that move rows: slice, pad, concatenate, reverse.
//
// `slice`: y[r] = x[start + stride r]. Tile i of t rows reads (t - 1) stride + 1 rows of x, from row i t
// stride + start on. A halo exchange fetches them, and the local slice strides over them.
//
// `pad` on tiled dimensions, by halo exchange.
//
// Global:  y[r] = x[(r - low) / (interior + 1)] where that is a row of x, `value` elsewhere.
// Shard:   tile i of t rows reads x from row ceil((i t - low) / (interior + 1)) on: the rows of x that lie in
//          [i t, i t + t) of y. Positions before, between and after rows of x become `value`.
//          If x is a slice, the tile fetches rows of the sliced array.
// Example: f32[8] padded by low = 2 over 2: t = 5, tile 1 reads x[3, 8) and gets row 3 from tile 0.
//
// `concatenate`: operand k, of n rows, becomes rows [begin, begin + n) of the result. Tile i of t rows
// fetches rows [i t - begin, i t - begin + t) of each operand and selects by position. If operands are slices
// of one array, tiles fetch rows of that array.
//
// `reverse`: one permute exchanges each tile with its mirror image in all cut dimensions, and each device
// reverses its tile. If the last tile of a dimension is short, a halo exchange then moves all rows up by the
// rows that it lacks: tile i of s rows reads s rows of the reversed tiles, from row i s + s tiles - n on.
//
// Ops that read through slices: rolls and shifts.
//
// A concatenate of slices of one array, and a pad of a slice, only move rows of that array. Their local
// programs fetch rows of the array itself in one exchange. Otherwise the slices would be computed by one
// exchange, and the concatenate or pad of them by another. The same holds for a concatenate of an array and a
// few of its own rows, which extends the array at edges that wrap round or repeat.
//
// Example: y = concatenate(x[7:8], x[0:7]) rolls x by one row. Over 8 devices each tile reads one row of x
//          from its neighbour: one collective-permute. By way of the slices there would be two.
#include <algorithm>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

// The operands that read an array (as slices, or as a whole) must have at least 7/8 of its elements to read
// through slices: if the array has to be resharded, resharding smaller slices instead costs less.
constexpr int64_t kReadParts = 7, kPartsOfArray = 8;
// Concatenates of more operands do not read through slices: they are no rolls.
constexpr int kMaxOperands = 16;

// The array that `operand` is a slice of, if all strides are 1; null otherwise.
const Instruction* BehindSlice(const Instruction& operand) {
  if (operand.opcode() != Opcode::kSlice) return nullptr;
  const SliceView slice(operand);
  for (int d = 0; d < operand.shape().rank(); ++d) {
    if (slice[d].stride != 1) return nullptr;
  }
  return operand.operand(0);
}

bool IsMostOf(int64_t elements, const Instruction& array) {
  return elements > 0 && elements * kPartsOfArray >= array.shape().NumElements() * kReadParts;
}

// The array that a concatenate or pad reads in place of operand k: if the operand is a slice with strides of 1,
// and all such operands together take most of the sliced array, that array; otherwise the operand itself.
// Shardings do not influence the choice, so that all stages of the partitioner agree on it.
const Instruction& ConcatenateSource(const Instruction& op, int k) {
  const Instruction& operand = *op.operand(k);
  const Instruction* source = op.num_operands() > kMaxOperands ? nullptr : BehindSlice(operand);
  if (source == nullptr) return operand;
  const int dim = static_cast<int>(op.dimension());
  int64_t elements = 0;
  for (const Instruction* other : op.operands()) {
    if (other != source && BehindSlice(*other) != source) continue;
    for (int d = 0; d < other->shape().rank(); ++d) {
      if (d != dim && other->shape().dim(d) != source->shape().dim(d)) return operand;
    }
    elements += other->shape().NumElements();
  }
  return IsMostOf(elements, *source) ? *source : operand;
}

const Instruction& PadSource(const Instruction& op, int k) {
  const Instruction& operand = *op.operand(k);
  const Instruction* source = k == 0 ? BehindSlice(operand) : nullptr;
  return source != nullptr && IsMostOf(operand.shape().NumElements(), *source) ? *source : operand;
}

// The rows [start, limit) along `dim` of the array that is read in place of operand `k` which are the operand's.
SliceBounds RowsOfSource(const Instruction& op, int k, int dim) {
  const Instruction& operand = *op.operand(k);
  return &SourceOf(op, k) == &operand ? SliceBounds{0, operand.shape().dim(dim), 1} : SliceView(operand)[dim];
}

// Cuts local operand `k` out of the array that is read in its place, along dimension `d`, which is not cut.
void TakeRowsOfSource(OpContext& context, int k, int d) {
  const SliceBounds rows = RowsOfSource(*context.op, k, d);
  context.operands[k] = context.b->SliceAlong(context.operands[k], d, rows.start, rows.limit);
}

ShardingRule SliceShardingRule(const Instruction& op) {
  ShardingRule rule = PointwiseRule(op.shape().dims(), 1);
  for (int d = 0; d < op.shape().rank(); ++d) {
    const SliceBounds slice = SliceView(op)[d];
    const int64_t size = op.operand(0)->shape().dim(d);
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

std::vector<Instruction*> PartitionSlice(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  const Shape local = context.ResultShape();
  for (int d = 0; d < local.rank(); ++d) {
    const SliceBounds bounds = SliceView(*context.op)[d];
    if (!context.IsCut(0, d)) continue;
    if (context.rule->factors[d].kind == FactorKind::kPermuting) {
      const AxisList& axes = context.AxesOf(0, d);
      const OperandWindows read = ReadsOfSlice(*context.op, d, b.mesh().Product(axes))[0];
      context.operands[0] = FetchWindow(b, context.operands[0], d, read.size, axes, axes, read.windows);
    }
    SliceView::Set(attrs, d, {0, context.operands[0]->shape().dim(d), bounds.stride});
  }
  return context.CloneLocal(attrs);
}

ShardingRule PadShardingRule(const Instruction& op) {
  ShardingRule rule = PointwiseRule(op.shape().dims(), 1);
  rule.operands.emplace_back();  // The padding value, a scalar.
  for (int d = 0; d < op.shape().rank(); ++d) {
    const EdgePadding padding = PadView(op)[d];
    const SliceBounds rows = RowsOfSource(op, 0, d);
    if (padding.low != 0 || padding.high != 0 || rows.start != 0 ||
        rows.limit != SourceOf(op, 0).shape().dim(d) ||
        (padding.interior != 0 && op.operand(0)->shape().dim(d) > 1)) {
      rule.factors[d].kind = FactorKind::kPermuting;
    }
  }
  return rule;
}

std::vector<OperandWindows> ReadsOfPad(const Instruction& op, int dim, int64_t tiles) {
  const int64_t t = TileRows(op, dim, tiles);
  const EdgePadding padding = PadView(op)[dim];
  const int64_t step = padding.interior + 1;
  const SliceBounds rows = RowsOfSource(op, 0, dim);
  TileWindows windows = SpreadWindows(t, rows.start * step - padding.low, t, step);
  windows.first = rows.start;
  // A negative high edge drops rows at the end of x: y has the first `taken` ones.
  const int64_t taken = FloorOfRatio(op.shape().dim(dim) - 1 - padding.low, step) + 1;
  return {{0, dim, windows, std::clamp(rows.start + taken, rows.start, rows.limit),
           SourceOf(op, 0).shape().dim(dim)}};
}

std::vector<Instruction*> PartitionPad(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  const Shape local = context.ResultShape();
  for (int d = 0; d < local.rank(); ++d) {
    if (!context.IsCut(0, d)) TakeRowsOfSource(context, 0, d);
    if (!context.IsCut(0, d) || context.rule->factors[d].kind != FactorKind::kPermuting) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const OperandWindows read = ReadsOfPad(*context.op, d, b.mesh().Product(axes))[0];
    context.operands[0] = FetchSpreadWindow(b, context.operands[0], d, read.size, axes, read.windows,
                                            local.dim(d), context.operands[1]);
    PadView::Set(attrs, d, EdgePadding());
  }
  return context.CloneLocal(attrs);
}

ShardingRule ConcatenateShardingRule(const Instruction& op) {
  ShardingRule rule = PointwiseRule(op.shape().dims(), op.num_operands());
  if (op.num_operands() > 1) rule.factors[op.dimension()].kind = FactorKind::kPermuting;
  if (op.num_operands() < 32) rule.AddMoved((uint32_t{1} << op.num_operands()) - 1);
  return rule;
}

std::vector<OperandWindows> ReadsOfConcatenate(const Instruction& op, int dim, int64_t tiles) {
  const int64_t t = TileRows(op, dim, tiles);
  std::vector<OperandWindows> reads;
  int64_t begin = 0;
  for (int k = 0; k < op.num_operands(); ++k) {
    const SliceBounds rows = RowsOfSource(op, k, dim);
    reads.push_back(
        {k, dim, {t, rows.start - begin, t, 1, rows.start}, rows.limit, SourceOf(op, k).shape().dim(dim)});
    begin += rows.limit - rows.start;
  }
  return reads;
}

std::vector<Instruction*> PartitionConcatenate(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int64_t d = context.op->dimension();
  const AxisList& axes = context.results[0].dims[d];
  if (axes.empty()) {
    for (int k = 0; k < context.op->num_operands(); ++k) TakeRowsOfSource(context, k, static_cast<int>(d));
    return context.CloneLocal();
  }
  const Shape local = context.ResultShape();
  const PrimitiveType type =
      SpmdBuilder::IndexType(local.dim(d) * b.mesh().Product(axes) + context.op->shape().dim(d));
  Instruction* result = nullptr;
  for (const OperandWindows& read : ReadsOfConcatenate(*context.op, d, b.mesh().Product(axes))) {
    const TileWindows& windows = read.windows;
    if (read.size == windows.first) continue;
    Instruction* piece = FetchWindow(b, context.operands[read.operand], d, read.size, axes, axes, windows);
    if (result == nullptr) {
      result = piece;
    } else {
      Instruction* from = b.AffineOffset(axes, -windows.scale, windows.first - windows.shift, type);
      result = b.Select(b.InRange(local.dims(), d, from, nullptr), piece, result);
    }
  }
  return {result};
}

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

ShardingRule ReverseShardingRule(const Instruction& op) {
  ShardingRule rule = PointwiseRule(op.shape().dims(), 1);
  for (const int64_t d : op.dimensions()) {
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

std::vector<Instruction*> PartitionReverse(OpContext& context) {
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

Instruction* ReverseCut(SpmdBuilder& b, Instruction* x, int d, int64_t n, const AxisList& axes) {
  const int64_t t = x->shape().dim(d), tiles = b.mesh().Product(axes);
  x = b.Reverse(MirrorTiles(b, x, axes), {d});
  return t * tiles == n ? x : FetchWindow(b, x, d, t * tiles, axes, axes, WindowsOfReversed(n, t, tiles));
}

const OpFamily families::kSlice = {SliceShardingRule, PartitionSlice, ReadsOfSlice};
const OpFamily families::kPad = {PadShardingRule, PartitionPad, ReadsOfPad, PadSource};
const OpFamily families::kConcatenate = {ConcatenateShardingRule, PartitionConcatenate, ReadsOfConcatenate,
                                         ConcatenateSource};
const OpFamily families::kReverse = {ReverseShardingRule, PartitionReverse, ReadsOfReverse};

}  // namespace toroid
