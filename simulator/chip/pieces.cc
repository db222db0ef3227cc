#include "simulator/chip/pieces.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "simulator/program/columns.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

Tiling TilingOf(const CoreSpec& core) { return {core.vector().sublanes(), core.vector().lanes()}; }

Dims DimsOf(const Shape& shape) { return Dims(shape.dims().begin(), shape.dims().end()); }

}  // namespace

bool IsMove(const Instruction& op) {
  const int rank = op.shape().IsArray() ? static_cast<int>(op.shape().rank()) : 0;
  if (op.opcode() == Opcode::kConcatenate) return true;
  if (rank == 0 || (op.opcode() != Opcode::kSlice && op.opcode() != Opcode::kPad)) return false;
  for (int d = 0; d < rank; ++d) {
    if (op.opcode() == Opcode::kSlice ? SliceView(op)[d].stride != 1 : PadView(op)[d].interior != 0)
      return false;
  }
  return true;
}

double BytesOfArray(const Shape& shape, const Tiling& tiling) {
  const double bytes = PaddedBytes(shape, tiling);
  if (!IsColumn(shape, tiling) || !IsOn(Rule::kColumnsInRows)) return bytes;
  const int64_t width = ByteWidth(shape.element_type());
  return std::max(bytes,
                  PaddedElements(1, 1, shape.NumElements(), width, tiling) * static_cast<double>(width));
}

double BytesOfPiece(const Piece& piece, const Shape& whole, const CoreSpec& core) {
  const Tiling tiling = TilingOf(core);
  const Shape& shape = piece.array->shape();
  const Dims own_order = PhysicalOrder(shape), whole_order = PhysicalOrder(whole);
  const Dims& order = own_order.size() >= whole_order.size() ? own_order : whole_order;
  const double all = BytesOfArray(whole, tiling),
               windows = std::max(1.0, 2 * all / static_cast<double>(core.memory().window_bytes()));
  double bytes = BytesOfArray(shape, tiling);
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t d = order[i];
    const auto own = static_cast<double>(shape.dim(d)), extent = static_cast<double>(piece.extent[d]),
               from = static_cast<double>(piece.at[d]);
    const auto begin = static_cast<double>(piece.begin[d]), limit = static_cast<double>(piece.limit[d]);
    if (from == 0 && own == extent && begin == 0 && limit == own) continue;
    const bool is_minor = i == 0, is_row = i == 1;
    const int64_t rows = RowsOfTile(shape.dim(d), ByteWidth(shape.element_type()), tiling);
    const auto tile = static_cast<double>(is_minor ? tiling.lanes : is_row ? rows : 1);
    const double all_tiles = std::ceil(own / tile), end = std::min(from + extent, limit);
    const double from_begin = std::ceil(end / tile) - std::floor(std::max(from, begin) / tile);
    const double tiles =
        std::max(1.0, limit - begin <= tile ? from_begin : std::ceil(end / tile) - std::floor(from / tile));
    if (is_minor || i + 1 < order.size()) {
      const double passed = tiles / all_tiles;
      bytes *= is_minor ? passed : std::min(passed, windows);
      continue;
    }
    const bool is_shifted = is_row && own > tile && from != std::floor(from / tile) * tile &&
                            Decides(Rule::kShiftedRows, *piece.array);
    const double part = bytes * std::max(1.0, std::min(from_begin, all_tiles)) / all_tiles;
    const double joined = core.movement().concatenate_passes() * std::max(0.0, end - from) / extent;
    const double share = is_row ? 1 : limit - begin <= 1 ? 0 : piece.is_joined ? joined : 1;
    const double tile_bytes = bytes / all_tiles;
    bytes = std::max(part, end < from + extent || from < begin ? std::min(share * all, windows * part) : 0);
    if (is_shifted && from < begin) bytes += windows * tile_bytes;
  }
  return bytes;
}

double BytesOfSlice(const Instruction& slice, const CoreSpec& core) {
  const int rank = static_cast<int>(slice.shape().rank());
  Piece piece = {slice.operand(0), Dims(rank), DimsOf(slice.shape()), Dims(rank), Dims(rank)};
  for (int d = 0; d < rank; ++d) {
    piece.at[d] = piece.begin[d] = SliceView(slice)[d].start;
    piece.limit[d] = SliceView(slice)[d].limit;
  }
  return BytesOfPiece(piece, slice.shape(), core);
}

double BytesBesideOperands(const Instruction& op, const CoreSpec& core) {
  double more = 0;
  Dims at(op.shape().rank(), 0);
  for (const Instruction* operand : op.operands()) {
    if (operand->shape().rank() == 0) continue;
    if (op.opcode() == Opcode::kPad) {
      const PadView around(op);
      for (int d = 0; d < op.shape().rank(); ++d) at[d] = -around[d].low;
    }
    const Piece piece = {operand,
                         at,
                         DimsOf(op.shape()),
                         Dims(op.shape().rank(), 0),
                         DimsOf(operand->shape()),
                         op.opcode() == Opcode::kConcatenate};
    more +=
        std::max(0.0, BytesOfPiece(piece, op.shape(), core) - BytesOfArray(operand->shape(), TilingOf(core)));
    if (op.opcode() == Opcode::kConcatenate) at[op.dimension()] -= operand->shape().dim(op.dimension());
  }
  return more;
}

std::vector<bool> OnlySpread(const Computation& inside) {
  std::vector<bool> spread(inside.size(), true), read(inside.size(), false);
  for (int i = inside.size() - 1; i >= 0; --i) {
    const Instruction* op = inside.instruction(i);
    const bool renames = op->opcode() == Opcode::kReshape || op->opcode() == Opcode::kConvert ||
                         op->opcode() == Opcode::kTranspose;
    const bool passes = op->opcode() == Opcode::kBroadcast || (renames && read[i] && spread[i]);
    for (const Instruction* operand : op->operands()) {
      read[operand->index()] = true;
      if (!passes || (!renames && operand->shape().NumElements() == op->shape().NumElements()))
        spread[operand->index()] = false;
    }
  }
  return spread;
}

JoinedOperand JoinedOperandOf(const Instruction& dot, int side, const Tiling& tiling) {
  JoinedOperand result;
  const Instruction* joined = dot.operand(side);
  while (joined->opcode() == Opcode::kConvert) joined = joined->operand(0);
  if (joined->opcode() != Opcode::kConcatenate) return result;
  const DotView view(dot);
  const auto contracting = side == 0 ? view.lhs_contracting() : view.rhs_contracting();
  const auto batch = side == 0 ? view.lhs_batch() : view.rhs_batch();
  const int64_t d = joined->dimension(), size = joined->shape().dim(d);
  if (size == 0 || absl::c_linear_search(batch, d)) return result;
  result.is_contracted = absl::c_linear_search(contracting, d);
  const Dims order = PhysicalOrder(joined->shape());
  for (auto outer = order.rbegin(); outer != order.rend() && *outer != d; ++outer) {
    const bool is_contracted = absl::c_linear_search(contracting, *outer);
    if (is_contracted != result.is_contracted || absl::c_linear_search(batch, *outer)) continue;
    result.outer *= static_cast<double>(joined->shape().dim(*outer));
  }
  int64_t end = 0;  // Of the piece, in the whole.
  for (const Instruction* piece : joined->operands()) {
    while (piece->opcode() == Opcode::kConvert) piece = piece->operand(0);
    Shape whole = joined->shape();
    whole.set_element_type(piece->shape().element_type());
    const double all = BytesOfArray(whole, tiling), own = BytesOfArray(piece->shape(), tiling);
    end += piece->shape().dim(d);
    const double to_end = all * static_cast<double>(end) / static_cast<double>(size);
    result.bytes += std::max(0.0, to_end - own);
    result.cut_bytes += std::max(0.0, all - own);
  }
  return result;
}

}  // namespace toroid
