// `topk`: (b n) -> (b k), (b k): the k largest, or smallest, elements of every line, and their positions.
//
// If lines of n elements are cut over g devices, each device takes the first k of its tile, the devices
// gather these, and the first k of the gathered elements are those of the line. For each line a device sends
// k (g - 1) values and positions instead of n (g - 1) / g values. Tiles are gathered in order, so that of
// equal elements the first one wins. Tiles of fewer than k elements are gathered whole.
//
// Example: the first 8 of f32[4,4096] over 8: a device sends 4 lines of 7 x 8 values and positions, 1,792
//          bytes.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

// The rule of the op, and of custom calls of the same meaning.
ShardingRule TopKShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionTopK(OpContext& context);

}  // namespace toroid
