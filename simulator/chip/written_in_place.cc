#include "simulator/chip/written_in_place.h"

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/module.h"

namespace toroid {

bool IsMadeFromHalves(const Instruction& op, const Tiling& tiling) {
  if (op.opcode() != Opcode::kConcatenate || op.num_operands() != 2) return false;
  const Instruction* group = op.operand(0)->num_operands() == 1 ? op.operand(0)->operand(0) : nullptr;
  if (group == nullptr || group->opcode() != Opcode::kFusion || op.operand(1)->num_operands() != 1 ||
      op.operand(1)->operand(0) != group)
    return false;
  if (group->shape().IsTuple() && group->shape().tuple_shapes().size() > 2) return false;
  const int64_t d = op.dimension(), half = op.operand(0)->shape().dim(d);
  const Dims order = PhysicalOrder(op.shape());
  const int64_t tile = order.empty() || order[0] == d      ? tiling.lanes
                       : order.size() > 1 && order[1] == d ? tiling.sublanes
                                                           : 1;
  if (op.operand(1)->shape().dim(d) != half || half % tile != 0) return false;
  const Computation& inside = *group->called(0);
  for (const Instruction* parameter : inside.parameters()) {
    if (parameter->shape().dims() != op.shape().dims() ||
        parameter->shape().element_type() != op.shape().element_type())
      continue;
    bool first = false, second = false, other = false;
    for (const auto& user : inside.instructions()) {
      for (const Instruction* operand : user->operands()) {
        if (operand != parameter) continue;
        const bool cuts =
            user->opcode() == Opcode::kSlice && user->shape().dims() == op.operand(0)->shape().dims();
        const int64_t start = cuts ? SliceView(*user)[static_cast<int>(d)].start : -1;
        first |= start == 0;
        second |= start == half;
        other |= start != 0 && start != half;
      }
    }
    if (first && second && !other) return true;
  }
  return false;
}

bool JoinsSpreadTiles(const Instruction& op, const Tiling& tiling) {
  if (op.opcode() != Opcode::kReshape || op.operand(0)->opcode() != Opcode::kBroadcast) return false;
  const Shape &from = op.operand(0)->shape(), &to = op.shape();
  const Dims before = PhysicalOrder(from), after = PhysicalOrder(to);
  return !before.empty() && !after.empty() && from.dim(before[0]) % tiling.lanes == 0 &&
         to.dim(after[0]) % tiling.lanes == 0;
}

}  // namespace toroid
