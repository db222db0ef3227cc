// `slice`: y[r] = x[start + stride r]. Tile i of t rows reads (t - 1) stride + 1 rows of x, from row i t
// stride + start on. A halo exchange fetches them, and the local slice strides over them.
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule SliceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionSlice(OpContext& context);
std::vector<OperandWindows> ReadsOfSlice(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid
