// Products of groups of rows: ragged-dot(lhs, rhs, sizes). `sizes` are the row counts of consecutive groups
// along one dimension of the lhs, the ragged one.
//
// Factors are those of the dot, and one for the dimension of the groups:
//   ragged free dimension         (b m k), (g b k n), (g) -> (b m n); g is a reduction: rows of other
//                                 devices' groups give zero
//   ragged contracting dimension  (b m k), (b k n), (g) -> (g b m n); g is never cut: each device has terms
//                                 of all groups
//   ragged batch dimension        a dot
//
// The group dimension of `sizes` is never cut, since where a group begins depends on the sizes before it. If
// the rows or the groups are cut, the local program computes how many rows of each of the device's groups lie
// in its shard. `sizes` of more than one dimension: batch dimensions among them are cut as in the operands.
// Groups are not cut, nor are free or contracting dimensions by which the sizes differ.
#pragma once

#include <vector>

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule RaggedDotShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionRaggedDot(OpContext& context);

}  // namespace toroid
