// `select-and-scatter` on tiled dimensions, by halo exchange: the gradient of pooling, overlapping and padded
// windows included.
//
// Window p covers operand rows [p s - low, p s - low + k) and adds source row p to the row that it selects.
// Tile i of t operand rows fetches the source rows and the operand rows of all windows that touch it, and
// keeps its own rows of the result:
//   first window   p0 = floor((t i + low - k + s) / s)
//   its first row  p0 s - low, an affine function of i if s divides t; otherwise s - 1 more rows are fetched
//
// Windows beyond the source add the neutral element of the scatter computation, which must be a known
// reducer. If windows are padded, rows outside of the operand hold a NaN whose bits no arithmetic produces,
// and the select computation prefers any element to it. Integer types have no such value, so with padded
// windows they are not cut.
// Example: k = 3, s = 2, f32[64] over 4: tile i of 16 rows has 9 windows, from window 8 i - 1 on, over rows
//          from 16 i - 2 on. It fetches one row of the source and three of the operand.
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule SelectAndScatterShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionSelectAndScatter(OpContext& context);
std::vector<OperandWindows> ReadsOfSelectAndScatter(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid
