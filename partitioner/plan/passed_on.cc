#include "partitioner/plan/passed_on.h"

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/literal.h"

namespace toroid {
namespace {

// True if the operand is a constant zero, perhaps broadcast or reshaped: it is its own partial sum.
bool IsZero(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kBroadcast || instruction->opcode() == Opcode::kReshape) {
    instruction = instruction->operand(0);
  }
  if (instruction->opcode() != Opcode::kConstant || !instruction->shape().IsScalar()) return false;
  const absl::StatusOr<Literal> value = LiteralOf(*instruction);
  return value.ok() && *value == Literal(instruction->shape());
}

// True if all operands that are not partial, but would have to be, are zeros of a sum.
bool RestIsZero(const Instruction& instruction, const FlowOp& op, const Linearity& linearity,
                const PartialOperands& partial) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!(linearity.together >> i & 1) || partial.Has(i)) continue;
    if (partial.partial.reducer != Reducer::kAdd || !IsZero(instruction.operand(i))) return false;
  }
  return true;
}

}  // namespace

bool MayPassOn(const Instruction& instruction, const FlowOp& op, const PartialOperands& partial) {
  if (partial.none() || op.results.size() != 1) return false;
  for (const Linearity& linearity : op.rule->linear) {
    if ((partial.operands & ~linearity.together) != 0) continue;
    if (partial.partial.reducer != Reducer::kAdd && !linearity.any_reducer) continue;
    if (!RestIsZero(instruction, op, linearity, partial)) continue;
    if (instruction.opcode() == Opcode::kReduce && !IsZero(instruction.operand(1))) continue;
    return true;
  }
  return false;
}

}  // namespace toroid
