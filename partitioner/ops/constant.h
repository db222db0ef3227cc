// `constant`: may be cut in any dimension, each device holds its shard; a tuple of constants is never cut.
#ifndef TOROID_PARTITIONER_OPS_CONSTANT_H_
#define TOROID_PARTITIONER_OPS_CONSTANT_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule ConstantShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_CONSTANT_H_
