// `concatenate`: operand k, of n rows, becomes rows [begin, begin + n) of the result. Tile i of t rows
// fetches rows [i t - begin, i t - begin + t) of each operand and selects by position. If operands are slices
// of one array, tiles fetch rows of that array (read_through.h).
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ConcatenateShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionConcatenate(OpContext& context);
std::vector<OperandWindows> ReadsOfConcatenate(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid
