// Products of scaled blocks: scaled-dot(lhs, rhs, lhs_scale, rhs_scale). A scale has one number per block of
// its operand.
//
// Factors are those of the dot, but a dimension in blocks has two factors, (blocks, elements of a block); the
// scale's dimension has the first of them only.
// Example: f8[64,128], f8[128,32], scales [64,4], [4,32]: (m (k i)), ((k i) n), (m k), (k n) -> (m n), k and i reductions.
#pragma once

#include <vector>

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule ScaledDotShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionScaledDot(OpContext& context);

}  // namespace toroid
