// `dynamic-update-slice`: dimensions that the update fills pass through; on others every device writes the rows of the
// update that fall into its shard.
#ifndef TOROID_PARTITIONER_OPS_DYNAMIC_UPDATE_SLICE_H_
#define TOROID_PARTITIONER_OPS_DYNAMIC_UPDATE_SLICE_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule DynamicUpdateSliceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionDynamicUpdateSlice(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_DYNAMIC_UPDATE_SLICE_H_
