#include "partitioner/rewrite/partial_sums.h"

#include "hlo/ir/attribute_views.h"
#include "partitioner/rewrite/reduction_points.h"

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

PartialSums::PartialSums(const PreparedProgram& program, const ShardingPlan& plan,
                         const ShardedValues* values)
    : graph_(*program.graph),
      values_(*values),
      must_reduce_(MustReduce(graph_, plan, program.annotations.mesh)) {}

PartialOperands PartialSums::OperandsToPassOn(const Instruction& instruction, const FlowOp& op) const {
  const PartialOperands none;
  if (op.results.size() != 1) return none;
  PartialOperands present;
  for (size_t i = 0; i < op.operands.size() && i < 32; ++i) {
    const int t = op.operands[i];
    if (!graph_.shape(t).IsArray() || !values_.IsPartial(t)) continue;
    const Sharding& sharding = values_.versions(t)[0].sharding;
    if (present.none()) present.partial = sharding;
    if (present.partial.partial != sharding.partial || present.partial.reducer != sharding.reducer)
      return none;
    if (must_reduce_[t]) return none;
    present.operands |= uint32_t{1} << i;
  }
  return MayPassOn(instruction, op, present) ? present : none;
}

}  // namespace toroid
