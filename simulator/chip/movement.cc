#include "simulator/chip/movement.h"

#include <algorithm>
#include <cmath>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/module.h"
#include "simulator/chip/transpose_windows.h"
#include "simulator/program/tiling.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

double CyclesOfTranspose(const Instruction& op, const CoreSpec& core) {
  if (op.num_operands() == 0) return 0;
  const Shape& from = op.operand(0)->shape();
  const Shape& to = op.shape();
  if (!from.IsArray() || !to.IsArray() || from.rank() != to.rank()) return 0;
  const Dims before = PhysicalOrder(from);
  Dims after = PhysicalOrder(to);
  // In the operand's dimensions.
  if (op.opcode() == Opcode::kTranspose) {
    const auto permutation = op.dimensions();
    for (int64_t& d : after) {
      if (d >= static_cast<int64_t>(permutation.size())) return 0;
      d = permutation[d];
    }
  }
  if (before.size() != after.size() || before.size() < 2 || (before == after && op.opcode() != Opcode::kCopy))
    return 0;
  const Tiling tiling{core.vector().sublanes(), core.vector().lanes()};
  // The operand's extents in the order of the dimensions of each side.
  const auto rows_of_tile = [&](const Dims& order) {
    return RowsOfTile(from.dim(order[1]), ByteWidth(to.element_type()), tiling);
  };
  if (before[0] != after[0]) {
    TransposedArray array;
    Dims place(from.rank());
    for (int64_t d = 0; d < from.rank(); ++d) {
      place[d] = static_cast<int64_t>(array.dims.size());
      if (from.dim(d) != 1) array.dims.push_back(from.dim(d));
    }
    for (const int64_t d : before) array.before.push_back(place[d]);
    for (const int64_t d : after) array.after.push_back(place[d]);
    // Its rows are said to be along a dimension of one element.
    const Dims named = to.MinorToMajor();
    array.rows_alone = op.opcode() != Opcode::kTranspose && to.dim(named[1]) == 1 &&
                       named[0] != to.rank() - 1 && to.dim(named[0]) > 1;
    // A group has one start, however many windows.
    return CyclesOfTransposeWindows(array, core) - core.group_cycles();
  }
  // Rows of small tiles move one by one.
  const bool to_small = rows_of_tile(after) < tiling.sublanes;
  if (!to_small || !Decides(Rule::kRowsOfSmallTiles, op)) return 0;
  return core.movement().narrow_tile_cycles() * PaddedElements(to, tiling) /
         static_cast<double>(rows_of_tile(after) * tiling.lanes);
}

double CyclesOfJoinedTiles(const Instruction& op, const CoreSpec& core) {
  const Tiling tiling{core.vector().sublanes(), core.vector().lanes()};
  if (!JoinsTiles(op, tiling) || !Decides(Rule::kJoinedTiles, op)) return 0;
  const Shape& from = op.operand(0)->shape();
  const int64_t beside = from.dim(PhysicalOrder(from)[0]) / tiling.lanes;
  const int64_t rows = RowsOfTile(beside, ByteWidth(from.element_type()), tiling);
  if (rows >= tiling.sublanes) return 0;
  return core.movement().narrow_tile_cycles() * static_cast<double>(from.NumElements()) /
         static_cast<double>(rows * tiling.lanes);
}

double CyclesOfBroadcast(const Instruction& broadcast, const CoreSpec& core) {
  const Instruction* from = broadcast.operand(0);
  if (from->opcode() == Opcode::kIota || from->opcode() == Opcode::kConstant) return 0;
  if (from->shape().NumElements() <= 1) return 0;
  const Dims order = PhysicalOrder(broadcast.shape());
  if (order.empty()) return 0;
  for (const int64_t d : broadcast.dimensions()) {
    if (d == order[0]) return 0;
  }
  const bool is_vector = PhysicalOrder(from->shape()).size() == 1;
  const double each =
      core.movement().lane_broadcast_cycles() + (is_vector ? core.movement().lanes_to_rows_cycles() : 0);
  return each * static_cast<double>(from->shape().NumElements()) /
         static_cast<double>(core.vector().sublanes());
}

}  // namespace

double MovementCycles(const Instruction& op, const CoreSpec& core) {
  switch (op.opcode()) {
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kConvert:
      return CyclesOfTranspose(op, core);
    case Opcode::kBroadcast:
      return CyclesOfBroadcast(op, core);
    case Opcode::kReshape:
      return CyclesOfJoinedTiles(op, core);
    default:
      return 0;
  }
}

}  // namespace toroid
