// `select-and-scatter`: windows that lie apart, each within its stride, are cut with their rows; a dimension with
// others is never cut.
//
// A tile takes the rows under its part of the source (the rows of as many windows as it has of the source: s rows each
// give [i s, .. + s)), and what it scatters goes back to the tiles of the result. Rows behind the last window get the
// init value.
#ifndef TOROID_PARTITIONER_OPS_SELECT_AND_SCATTER_H_
#define TOROID_PARTITIONER_OPS_SELECT_AND_SCATTER_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule SelectAndScatterShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionSelectAndScatter(OpContext& context);
std::vector<OperandWindows> ReadsOfSelectAndScatter(const Instruction& op, int dim, int64_t tiles);

// The result goes the way back: twice the `halo`.
int64_t BytesSentBySelectAndScatter(const Instruction& op, int dim, int64_t tiles,
                                    absl::Span<const double> operand_bytes, int64_t halo);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_SELECT_AND_SCATTER_H_
