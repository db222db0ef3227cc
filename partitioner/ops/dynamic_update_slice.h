// `dynamic-update-slice`: dimensions that the update fills pass through; on others every device writes the
// rows of the update that fall into its shard. If an update of several rows has a constant start, the update
// may be cut too: tile i of t rows fetches rows [i t - start, i t - start + t) of it by a halo exchange.
// Example: x[16:, 16:] = u for x f32[256,256] and u f32[240,240] over [4,4]: two permutes, of f32[12,60] and
//          f32[64,12], instead of gathering u.
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule DynamicUpdateSliceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionDynamicUpdateSlice(OpContext& context);
std::vector<OperandWindows> ReadsOfDynamicUpdateSlice(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid
