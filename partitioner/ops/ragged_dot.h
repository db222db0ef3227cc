// Products with groups of rows: ragged-dot(lhs, rhs, sizes), sizes of consecutive groups along one dimension of the lhs.
//
// Factors are those of the dot. The dimension of groups:
//   ragged free dimension         (b m k), (g b k n), (g) -> (b m n)   g is a reduction: rows of another device's groups give zero
//   ragged contracting dimension  (b m k), (b k n), (g) -> (g b m n)   each device has terms for all groups
//   ragged batch dimension        a dot
// Sizes stay whole, since where a group begins depends on those before it. A device that holds part of the rows, or of the groups, is
// told how many rows of each of its groups lie in its part.
// Sizes that differ by other dimensions than those of the batch: the dimensions that they differ by stay whole, and so do groups.
#ifndef TOROID_PARTITIONER_OPS_RAGGED_DOT_H_
#define TOROID_PARTITIONER_OPS_RAGGED_DOT_H_

#include <vector>

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule RaggedDotShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionRaggedDot(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_RAGGED_DOT_H_
