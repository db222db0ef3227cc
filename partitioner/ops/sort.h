// `sort`: dimensions but the sorted one pass through. The sorted one may be cut: tiles are then sorted together (column_sort.h).
// Shardings flow along it in lines of 1,024 rows and more, which tiles of most meshes are long enough for. Assignments weigh what that sends against gathering all rows, and against moving the cut to another dimension.
//
// Where only the first k of n rows are ever read, k <= n / 4 (slices of the results, as a top-k is written without an op of its
// own), the tiles are not put in order: every tile sorts its own rows, the first k of each are gathered, and sorted
// again. The results then have n rows on every device, of which the first k are those of the whole.
// Example: the first 8 rows of a sort of f32[4096] and s32[4096] over 8: 7 x 8 rows of each, 448 bytes.
// Uneven: a flag travels with each row, and padding comes behind all rows.
#ifndef TOROID_PARTITIONER_OPS_SORT_H_
#define TOROID_PARTITIONER_OPS_SORT_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule SortShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionSort(OpContext& context);

// The results of the tiles, or the tiles.
int64_t BytesSentBySort(const Instruction& op, int factor, int64_t tiles,
                        absl::Span<const double> operand_bytes, int64_t halo);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_SORT_H_
