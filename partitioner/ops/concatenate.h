// `concatenate`: operand k lies in rows [begin, begin + n) of the result; a tile of t rows takes from each operand what
// falls into it: rows [i t - begin, .. + t) for tile i. Slices of one array are read through (read_through.h).
#ifndef TOROID_PARTITIONER_OPS_CONCATENATE_H_
#define TOROID_PARTITIONER_OPS_CONCATENATE_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ConcatenateShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionConcatenate(OpContext& context);
std::vector<OperandWindows> ReadsOfConcatenate(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_CONCATENATE_H_
