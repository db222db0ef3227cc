// Local programs of ops that move boundaries: iota, slice, pad, reverse, concatenate.
//
// On a cut dimension the result's tile i owns rows [i t, (i + 1) t); the op says which operand rows those
// are, and a halo exchange fetches them.
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
absl::StatusOr<std::vector<Instruction*>> PartitionIota(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int64_t d = context.op->dimension();
  const AxisList& axes = context.results[0].dims[d];
  if (axes.empty()) return context.CloneLocal();
  // Counted in wide integers: the element type may not hold offset and index apart as exactly as their sum.
  const Shape local = context.ResultShape();
  const PrimitiveType type = SpmdBuilder::IndexType(local.dim(d) * b.mesh().Product(axes));
  Instruction* iota = b.Iota(type, local.dims(), d);
  iota = b.Binary(Opcode::kAdd, iota, b.Broadcast(b.Offset(axes, local.dim(d), type), local.dims()));
  return std::vector<Instruction*>{b.Convert(iota, local.element_type())};
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
      const TileWindows windows = ReadsOfTiles(*context.op, d, b.mesh().Product(axes))[0].windows;
      context.operands[0] = FetchWindow(b, context.operands[0], d, n, axes, axes, windows);
    }
    SliceView::Set(attrs, d, {0, context.operands[0]->shape().dim(d), bounds.stride});
  }
  return context.CloneLocal(attrs);
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
    const TileWindows windows = ReadsOfTiles(*context.op, d, b.mesh().Product(axes))[0].windows;
    context.operands[0] = FetchSpreadWindow(b, context.operands[0], {d, context.GlobalDim(0, d), axes}, windows,
                                            local.dim(d), context.operands[1]);
    PadView::Set(attrs, d, EdgePadding());
  }
  return context.CloneLocal(attrs);
}

absl::StatusOr<std::vector<Instruction*>> PartitionReverse(OpContext& context) {
  SpmdBuilder& b = *context.b;
  std::vector<Instruction*> result;
  // Tiles change places with their mirror images; then every tile is reversed, and where the last tile is
  // short the rows move up by what it lacks.
  for (const int64_t dim : context.op->dimensions()) {
    const int64_t d = dim;
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
  for (const int64_t dim : context.op->dimensions()) {
    const int64_t d = dim;
    if (!context.IsCut(0, d)) continue;
    const AxisList& axes = context.AxesOf(0, d);
    const int64_t tiles = b.mesh().Product(axes);
    const int64_t s = result[0]->shape().dim(d);
    for (const OperandWindows& read : ReadsOfTiles(*context.op, d, tiles)) {
      result[0] = FetchWindow(b, result[0], d, s * tiles, axes, axes, read.windows);
    }
  }
  return result;
}

absl::StatusOr<std::vector<Instruction*>> PartitionConcatenate(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int64_t d = context.op->dimension();
  const AxisList& axes = context.results[0].dims[d];
  if (axes.empty()) return context.CloneLocal();
  const Shape local = context.ResultShape();
  const PrimitiveType type =
      SpmdBuilder::IndexType(local.dim(d) * b.mesh().Product(axes) + context.op->shape().dim(d));
  // Each operand lands in rows [begin, begin + n) of the result; a tile takes from each what falls into it.
  Instruction* result = nullptr;
  for (const OperandWindows& read : ReadsOfTiles(*context.op, d, b.mesh().Product(axes))) {
    const int64_t n = context.GlobalDim(read.operand, d);
    if (n == 0) continue;
    Instruction* piece = FetchWindow(b, context.operands[read.operand], d, n, axes, axes, read.windows);
    if (result == nullptr) {
      result = piece;
    } else {
      Instruction* from = b.AffineOffset(axes, -read.windows.scale, -read.windows.shift, type);
      result = b.Select(b.InRange(local.dims(), d, from, nullptr), piece, result);
    }
  }
  return std::vector<Instruction*>{result};
}

}  // namespace toroid
