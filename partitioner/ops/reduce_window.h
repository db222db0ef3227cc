// `reduce-window`: in a dimension with a nontrivial window, a halo exchange fetches the rows that a tile's
// windows read (window_base.h).
//
// Windows that reach from every row to the begin (or the end) of the dimension (a cumulative sum, maximum,
// ...) need no halo: every tile computes its own cumulative values, the totals of all tiles are gathered, one
// row per tile, and the totals of the preceding (following) tiles are combined with every row.
// Example: cumulative sums of x[0..8) over 2: tile 1 adds x[0] + ... + x[3] to its own sums.
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ReduceWindowShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionReduceWindow(OpContext& context);
// Empty for cumulative windows.
std::vector<OperandWindows> ReadsOfReduceWindow(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid
