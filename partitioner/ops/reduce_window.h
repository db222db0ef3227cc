// `reduce-window`: a dimension with a window of its own is cut by a halo exchange (window_base.h).
//
// A window that reaches to the begin of the dimension from every row (a cumulative sum, maximum, ...) is not
// fetched: every tile runs over its own rows, the totals of all tiles are gathered, and those of the tiles
// before are combined with every row. One row per tile travels. x[0..8) over 2, sums: tile 1 adds x[0] + ...
// + x[3] to its own.
#ifndef TOROID_PARTITIONER_OPS_REDUCE_WINDOW_H_
#define TOROID_PARTITIONER_OPS_REDUCE_WINDOW_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ReduceWindowShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionReduceWindow(OpContext& context);
// Nothing for cumulative windows.
std::vector<OperandWindows> ReadsOfReduceWindow(const Instruction& op, int dim, int64_t tiles);

// The totals of a cumulative window, besides the `halo` bytes of others.
int64_t BytesSentByReduceWindow(const Instruction& op, int dim, int64_t tiles,
                                absl::Span<const double> operand_bytes, int64_t halo);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_REDUCE_WINDOW_H_
