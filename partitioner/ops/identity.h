// Ops that return an operand as it is: copy, opt-barrier, domain; add-dependency, whose second operand is a
// token.
#ifndef TOROID_PARTITIONER_OPS_IDENTITY_H_
#define TOROID_PARTITIONER_OPS_IDENTITY_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule IdentityShardingRule(const Instruction& instruction);
ShardingRule AddDependencyShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_IDENTITY_H_
