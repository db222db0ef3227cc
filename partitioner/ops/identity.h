// Ops that return an operand as it is: copy, opt-barrier, domain; add-dependency, whose second operand is a
// token.
#pragma once

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule IdentityShardingRule(const Instruction& instruction);
ShardingRule AddDependencyShardingRule(const Instruction& instruction);

}  // namespace toroid
