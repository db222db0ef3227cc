// `dynamic-slice`: dimensions that the slice spans pass through. A sliced dimension is indexed in the operand
// and never cut in the result.
//
// On a cut sliced dimension every device contributes the rows of [start, start + k) that it holds and zeros
// for the others; the result is partial. One row at a constant start is sliced from the shard that has it.
#ifndef TOROID_PARTITIONER_OPS_DYNAMIC_SLICE_H_
#define TOROID_PARTITIONER_OPS_DYNAMIC_SLICE_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule DynamicSliceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionDynamicSlice(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_DYNAMIC_SLICE_H_
