// `dynamic-slice`: dimensions that the slice spans pass through; a sliced dimension is addressed by the start index and
// private to each side.
//
// On a cut sliced dimension every device gives those rows [start, start + k) that it holds, and zeros for the others;
// the result is partial. One row at a constant start is a slice of the shard that has it.
#ifndef TOROID_PARTITIONER_OPS_DYNAMIC_SLICE_H_
#define TOROID_PARTITIONER_OPS_DYNAMIC_SLICE_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule DynamicSliceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionDynamicSlice(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_DYNAMIC_SLICE_H_
