#include "partitioner/plan/op_decision.h"

#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/literal.h"
#include "partitioner/ops/op_families.h"

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

Sharding OperandSharding(const PreparedProgram& program, const FlowOp& op, size_t operand,
                         const OpDecision& decision) {
  Sharding needed = ShardingUnder(program.annotations.mesh, *op.rule, op.rule->operands[operand],
                                  decision.assignment.factor_axes);
  needed.manual = program.annotations.manual[op.operands[operand]];
  if (decision.passed_on.Has(operand)) {
    needed.partial = decision.passed_on.partial.partial;
    needed.reducer = decision.passed_on.partial.reducer;
  }
  return needed;
}

Sharding ResultSharding(const PreparedProgram& program, const FlowOp& op, size_t result,
                        const OpDecision& decision) {
  const ShardingRule& rule = *op.rule;
  const AxisSet own = PartialAxes(rule, decision.assignment.factor_axes);
  const AxisSet passed = decision.passed_on.axes();
  const Reducer passed_reducer = decision.passed_on.partial.reducer;
  TOROID_CHECK(own == 0 || passed == 0 || passed_reducer == rule.reducer, op.instruction->name());
  Sharding natural =
      ShardingUnder(program.annotations.mesh, rule, rule.results[result], decision.assignment.factor_axes);
  natural.manual = program.annotations.manual[op.results[result]];
  natural.partial = own | passed;
  if (natural.partial != 0) natural.reducer = own != 0 ? rule.reducer : passed_reducer;
  return natural;
}

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

bool MayCut(const Mesh& mesh, const FlowOp& op, int factor, const AxisList& axes) {
  const ShardingRule& rule = *op.rule;
  return axes.empty() || (CanCutLocally(*op.instruction, rule.factors[factor].kind) &&
                          (rule.Admissible(mesh, factor, axes) == axes ||
                           (rule.factors[factor].by_halo && UnevenAxes(mesh, rule, factor, axes) == axes)));
}

int64_t LocalBytes(const PreparedProgram& program, int tensor, const Sharding& sharding) {
  const Shape& shape = program.graph->shape(tensor);
  int64_t bytes = ByteWidth(shape.element_type());
  for (const int64_t size : program.annotations.mesh.ShardDims(shape.dims(), sharding)) bytes *= size;
  return bytes;
}

}  // namespace toroid
