// `sort`: all dimensions but the sorted one pass through. The sorted one may be cut too, and is then sorted
// across tiles (column_sort.h). Shardings flow along it only if it has at least 1,024 rows: on most meshes
// shorter lines have too few rows per tile for a column sort to pay. Assignments compare its bytes with those
// of gathering all rows, and of moving the cut to another dimension.
//
// If slices read only the first k of n rows of the results, k <= n / 4 (a top-k written without an op of its
// own), no column sort is needed: every tile sorts its own rows, and the first k of each are gathered and
// sorted again. The results then have n rows on every device. The first k are those of the global result, the
// others are zeros.
//
// Example: the first 8 rows of a sort of f32[4096] and s32[4096] over 8: a device sends 7 x 8 rows, 448
//          bytes.
// Uneven: each row carries a flag, by which padding comes behind all rows.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule SortShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionSort(OpContext& context);

}  // namespace toroid
