// `constant`: may be cut in any dimension, each device holds its shard; a tuple of constants is never cut.
#pragma once

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule ConstantShardingRule(const Instruction& instruction);

}  // namespace toroid
