// `slice`: x[start + stride r]. Tile i of t rows reads [i t stride + start, .. + (t - 1) stride + 1), which a halo
// exchange fetches; the local slice strides over them.
#ifndef TOROID_PARTITIONER_OPS_SLICE_H_
#define TOROID_PARTITIONER_OPS_SLICE_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule SliceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionSlice(OpContext& context);
std::vector<OperandWindows> ReadsOfSlice(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_SLICE_H_
