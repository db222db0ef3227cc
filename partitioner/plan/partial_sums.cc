#include "partitioner/plan/partial_sums.h"

#include "partitioner/plan/passed_on.h"
#include "partitioner/plan/reduction_points.h"

namespace toroid {

PartialSums::PartialSums(const PreparedProgram& program, const ShardingPlan& plan, const ValuePlaces* values)
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
    const Sharding sharding = *values_.PlacesOf(t)[0];
    if (present.none()) present.partial = sharding;
    if (present.partial.partial != sharding.partial || present.partial.reducer != sharding.reducer)
      return none;
    if (must_reduce_[t]) return none;
    present.operands |= uint32_t{1} << i;
  }
  return MayPassOn(instruction, op, present) ? present : none;
}

}  // namespace toroid
