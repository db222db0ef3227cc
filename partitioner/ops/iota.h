// `iota`: the local iota plus the offset of the shard along the iota's dimension.
//
// Example: iota s32[8] over 2: partition 1 computes [0, 1, 2, 3] + 4.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule IotaShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionIota(OpContext& context);

}  // namespace toroid
