// `dynamic-slice`: dimensions that the slice spans pass through. A sliced dimension is indexed in the operand
// and never cut in the result.
//
// On a cut sliced dimension every device contributes the rows of [start, start + k) that it holds and zeros
// for the others; the result is partial. One row at a constant start is sliced from the shard that has it.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule DynamicSliceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionDynamicSlice(OpContext& context);

}  // namespace toroid
