#include "partitioner/ops/identity.h"

namespace toroid {

ShardingRule IdentityShardingRule(const Instruction& instruction) {
  if (!instruction.shape().IsArray()) return OpaqueRule(instruction);
  return MovedRule(instruction.shape().dims());
}

ShardingRule AddDependencyShardingRule(const Instruction& instruction) {
  if (!instruction.shape().IsArray()) return OpaqueRule(instruction);
  ShardingRule rule = MovedRule(instruction.shape().dims());
  rule.operands.emplace_back(TensorFactors(instruction.operand(1)->shape().rank()));
  return rule;
}

}  // namespace toroid
