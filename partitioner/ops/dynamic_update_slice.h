// `dynamic-update-slice`: dimensions that the update fills pass through; on others every device writes the rows of the
// update that fall into its shard. Of an update of several rows that go to a constant place, tile i of t rows, from
// i t on, takes rows [i t - start, i t - start + t), which a halo exchange fetches.
// Example: x[16:] = u of f32[256,256] over [4,4]: two permutes of 16 rows, instead of gathering u.
#ifndef TOROID_PARTITIONER_OPS_DYNAMIC_UPDATE_SLICE_H_
#define TOROID_PARTITIONER_OPS_DYNAMIC_UPDATE_SLICE_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule DynamicUpdateSliceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionDynamicUpdateSlice(OpContext& context);
std::vector<OperandWindows> ReadsOfDynamicUpdateSlice(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_DYNAMIC_UPDATE_SLICE_H_
