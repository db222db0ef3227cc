// `transpose`: (a b c) -> (c a b). The local program is the op itself.
#pragma once

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule TransposeShardingRule(const Instruction& instruction);

}  // namespace toroid
