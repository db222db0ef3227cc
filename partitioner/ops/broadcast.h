// `broadcast`: (a b) -> (x a y b z). The local program is the op itself.
#pragma once

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule BroadcastShardingRule(const Instruction& instruction);

}  // namespace toroid
