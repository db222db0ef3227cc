#include "runtime/groups/plan_views.h"

#include <utility>

namespace toroid {
namespace {

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && !shape.IsDynamic(); }

// Same elements, in the same order, of the same type. Not so a bitcast, which may see another order by its layouts.
bool IsSame(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kReshape:
    case Opcode::kCopy:
      return instruction.shape().element_type() == instruction.operand(0)->shape().element_type() &&
             instruction.shape().NumElements() == instruction.operand(0)->shape().NumElements();
    default:
      return false;
  }
}

// The view that the instruction's result is, through that of its operand.
std::optional<View> ViewOf(const Instruction& instruction, const View& operand) {
  if (!IsStaticArray(instruction.shape())) return std::nullopt;
  if (instruction.opcode() == Opcode::kIota) return ViewThrough(instruction, operand);
  if (instruction.num_operands() != 1 || !IsStaticArray(instruction.operand(0)->shape())) return std::nullopt;
  if (IsSame(instruction)) return operand;
  const std::optional<View> view = ViewThrough(instruction, operand);
  return view.has_value() && ReadsInLines(*view) ? view : std::nullopt;
}

}  // namespace

PlanViews::PlanViews(const Plan& plan)
    : roots_(plan.values.size()), is_view_(plan.values.size(), false), producer_(plan.values.size(), -1) {
  for (size_t slot = 0; slot < plan.values.size(); ++slot) {
    if (plan.values[slot] == nullptr) continue;
    roots_[slot] = {static_cast<int>(slot), View::Whole(plan.values[slot]->shape().NumElements()), false};
  }
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    producer_[step.result] = static_cast<int>(s);
    const bool iota = step.instruction->opcode() == Opcode::kIota;
    const Root operand =
        step.operands.empty() ? Root{step.result, View::Whole(1), true} : roots_[step.operands[0]];
    std::optional<View> view = ViewOf(*step.instruction, operand.view);
    if (!view.has_value()) continue;
    is_view_[step.result] = true;
    roots_[step.result] = {operand.slot, *std::move(view), operand.counts || iota};
  }
}

}  // namespace toroid
