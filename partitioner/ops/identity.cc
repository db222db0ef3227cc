// Ops that return an operand as it is: copy, opt-barrier, domain; add-dependency, whose second operand is a
// token.
#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {

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

}  // namespace

const OpFamily families::kIdentity = {IdentityShardingRule};
const OpFamily families::kAddDependency = {AddDependencyShardingRule};

}  // namespace toroid
