#include "partitioner/plan/op_decision.h"

#include "hlo/base/status.h"
#include "partitioner/ops/sharding_rule.h"

namespace toroid {

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

}  // namespace toroid
