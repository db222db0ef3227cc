// `concatenate`: operand k, of n rows, becomes rows [begin, begin + n) of the result. Tile i of t rows
// fetches rows [i t - begin, i t - begin + t) of each operand and selects by position. If operands are slices
// of one array, tiles fetch rows of that array (read_through.h).
#include "partitioner/ops/op_family.h"
#include "partitioner/ops/read_through.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

ShardingRule ConcatenateShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), instruction.num_operands());
  if (instruction.num_operands() > 1) rule.factors[instruction.dimension()].kind = FactorKind::kPermuting;
  if (instruction.num_operands() < 32) rule.AddMoved((uint32_t{1} << instruction.num_operands()) - 1);
  return rule;
}

std::vector<OperandWindows> ReadsOfConcatenate(const Instruction& op, int dim, int64_t tiles) {
  const int64_t t = TileRows(op, dim, tiles);
  std::vector<OperandWindows> reads;
  int64_t begin = 0;
  for (int k = 0; k < op.num_operands(); ++k) {
    const Instruction& source = ConcatenateSource(op, k);
    const SliceBounds rows = RowsOfSource(op, k, source, dim);
    reads.push_back({k, dim, {t, rows.start - begin, t, 1, rows.start}, rows.limit, source.shape().dim(dim)});
    begin += rows.limit - rows.start;
  }
  return reads;
}

absl::StatusOr<std::vector<Instruction*>> PartitionConcatenate(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int64_t d = context.op->dimension();
  const AxisList& axes = context.results[0].dims[d];
  if (axes.empty()) {
    for (int k = 0; k < context.op->num_operands(); ++k) {
      const SliceBounds rows =
          RowsOfSource(*context.op, k, ConcatenateSource(*context.op, k), static_cast<int>(d));
      if (rows.limit - rows.start == context.operands[k]->shape().dim(d)) continue;
      context.operands[k] = b.SliceAlong(context.operands[k], d, rows.start, rows.limit);
    }
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
  return std::vector<Instruction*>{result};
}

}  // namespace

const OpFamily families::kConcatenate = {ConcatenateShardingRule, PartitionConcatenate, ReadsOfConcatenate,
                                         ConcatenateSource};

}  // namespace toroid
