// `bitcast-convert`: (i j) -> (i j), (i j) -> (i j w) or (i j w) -> (i j); the extra minor dimension w is
// never cut. The local program is the op itself.
#pragma once

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule BitcastConvertShardingRule(const Instruction& instruction);

}  // namespace toroid
