// Elementwise ops: (i j ...), (i j ...) -> (i j ...); scalar operands of select and clamp have no factors.
//
// The local program is the op itself. Linear ops: negate, real and imag; add, subtract and complex in both
// operands together; multiply in either operand; divide in the dividend; select in both values together;
// convert if it preserves sums.
#pragma once

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule UnaryShardingRule(const Instruction& instruction);
ShardingRule BinaryShardingRule(const Instruction& instruction);
ShardingRule CompareShardingRule(const Instruction& instruction);
ShardingRule SelectShardingRule(const Instruction& instruction);
ShardingRule ClampShardingRule(const Instruction& instruction);
ShardingRule ConvertShardingRule(const Instruction& instruction);
ShardingRule MapShardingRule(const Instruction& instruction);

}  // namespace toroid
