#include "partitioner/ops/sort.h"

namespace toroid {

ShardingRule SortShardingRule(const Instruction& instruction) {
  ShardingRule rule = BatchRule(instruction, instruction.operand(0)->shape().rank());
  rule.factors[instruction.dimension()].kind = FactorKind::kNeedsReplication;
  return rule;
}

}  // namespace toroid
