#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/layout/layout_assigner.h"
#include "simulator/compiler/layout/pieces_order.h"
#include "simulator/compiler/layout/preferred_order.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/dim_orders.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/walk.h"
#include "simulator/program/windows.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

namespace {

// Of a value that adds what was before to running folds of blocks: what the blocks were cut from; null for others.
const Instruction* InputOfRunningFold(const Instruction* value) {
  if (!IsElementwise(*value)) return nullptr;
  for (const Instruction* operand : value->operands()) {
    if (operand->opcode() != Opcode::kReduceWindow || !IsRunningFold(*operand)) continue;
    const Instruction* blocks = operand->operand(0);
    return blocks->opcode() == Opcode::kReshape ? blocks->operand(0) : blocks;
  }
  return nullptr;
}

}  // namespace

bool LayoutAssigner::AssignRepeated(Instruction* op) {
  Instruction* from = op->operand(0);
  // Where it lies, or as images for a convolution.
  const Instruction* once = from->operand(0);
  if (once->shape().rank() == op->shape().rank() && Known(once) && !state_.IsFlexible(once) &&
      IsOn(Rule::kRepeatedAsOnce)) {
    for (const Dims& order : {OrderOf(once), OrderAsImages(*op, state_)}) {
      if (order.empty()) continue;
      const auto of_operand = OrderThroughReshape(op->shape(), from->shape(), order);
      if (!of_operand || !KeepsTilesIn(from->shape(), *of_operand, op->shape(), order)) continue;
      Decides(Rule::kRepeatedAsOnce, *from);
      Settle(from, *of_operand);
      orders_[op->index()] = order;
      return true;
    }
  }
  // Repeated beside themselves, where that moves nothing.
  if (const Dims order = OrderThatKeepsTiles(*op, state_);
      !order.empty() && Decides(Rule::kRepeatedInPlace, *from)) {
    Settle(from, *OrderThroughReshape(op->shape(), from->shape(), order));
    orders_[op->index()] = order;
    return true;
  }
  return false;
}

bool LayoutAssigner::AssignCut(Instruction* op) {
  Instruction* from = op->operand(0);
  if (const Dims order = OrderOfPieces(*op, state_); !order.empty() && Decides(Rule::kPiecesForDots, *op)) {
    if (const auto of_operand = OrderThroughReshape(op->shape(), from->shape(), order)) {
      Need(op, 0, *of_operand);
      orders_[op->index()] = order;
      return true;
    }
  }
  if (const Dims order = OrderThatKeepsTiles(*op, state_);
      !order.empty() && Decides(Rule::kReshapesKeepTiles, *op)) {
    const Dims of_operand = *OrderThroughReshape(op->shape(), from->shape(), order);
    Need(op, 0, of_operand);
    orders_[op->index()] = order;
    return true;
  }
  return false;
}

void LayoutAssigner::AssignReshape(Instruction* op) {
  Instruction* from = op->operand(0);
  if (!Known(from) && RepeatsElements(*from) && AssignRepeated(op)) return;
  if (!from->shape().IsArray() || !Known(from)) return;
  if (state_.IsFlexible(from)) return;
  if (from->shape().rank() == 0) {
    orders_[op->index()] = RowMajorOrder(op->shape());
    return;
  }
  if (AssignCut(op)) return;
  if (const auto order = OrderThroughReshape(from->shape(), op->shape(), OrderOf(from))) {
    orders_[op->index()] = *order;
    return;
  }
  Dims order = RowMajorOrder(op->shape());
  // A cumulative sum goes back into the order in which its input is made best, or into the caller's.
  if (const Instruction* input = IsOnlyReturned(*op) ? nullptr : InputOfRunningFold(from);
      input != nullptr && input->shape().dims() == op->shape().dims() &&
      Decides(Rule::kFoldsLieAsInput, *op)) {
    order = state_.IsFlexible(input) ? NaturalOrder(input, order, tiling_) : OrderOf(input);
  }
  Need(op, 0, OrderThroughReshape(op->shape(), from->shape(), order).value_or(RowMajorOrder(from->shape())));
  orders_[op->index()] = order;
}

}  // namespace toroid
