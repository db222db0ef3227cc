// `dot`: (b m k), (b k n) -> (b m n), k reduced; several dimensions may play each role.
//
// Example: f32[8,16] dot f32[16,4]: (m k), (k n) -> (m n), linear in either operand. The local program is the op
// itself, with the padding of a cut k replaced by zeros in both operands.
#pragma once

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule DotShardingRule(const Instruction& instruction);

}  // namespace toroid
