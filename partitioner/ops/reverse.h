// `reverse`: one permute exchanges each tile with its mirror image in all cut dimensions, and each device
// reverses its tile. If the last tile of a dimension is short, a halo exchange then moves all rows up by the
// rows that it lacks: tile i of s rows reads s rows of the reversed tiles, from row i s + s tiles - n on.
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ReverseShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionReverse(OpContext& context);
std::vector<OperandWindows> ReadsOfReverse(const Instruction& op, int dim, int64_t tiles);

// The local rows of dimension `d`, of n rows cut over `axes`, in reverse order.
Instruction* ReverseCut(SpmdBuilder& b, Instruction* x, int d, int64_t n, const AxisList& axes);

}  // namespace toroid
