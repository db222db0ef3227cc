// `select-and-scatter` on tiled dimensions, by halo exchange: the gradient of pooling, overlapping and padded windows
// included.
//
// Window p lies over operand rows [p s - low, p s - low + k) and adds source row p to the one that it selects. A tile of t
// rows of the operand fetches all windows over its rows, their source rows and their operand rows, and keeps its own
// rows of what they add:
//   first window   floor((t i + low - k + s) / s)
//   its first row  s times that - low; where s divides t that is an affine function of i, elsewhere s - 1 rows more are
//                  fetched
// Windows that are none add the neutral element of the scatter computation, which must be a known reducer. Where windows
// are padded, rows outside the operand hold a NaN that no arithmetic gives, and the select computation prefers any
// element to it; so integers with padded windows are not cut.
// Example: k = 3, s = 2, f32[64] over 4: tile i of 16 rows has windows from 8 i - 1, 9 of them, over rows from 16 i - 2:
// one row of the source and three of the operand travel.
#ifndef TOROID_PARTITIONER_OPS_SELECT_AND_SCATTER_H_
#define TOROID_PARTITIONER_OPS_SELECT_AND_SCATTER_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule SelectAndScatterShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionSelectAndScatter(OpContext& context);
std::vector<OperandWindows> ReadsOfSelectAndScatter(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_SELECT_AND_SCATTER_H_
