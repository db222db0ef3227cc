// `pad` on tiled dimensions, by halo exchange.
//
// Global:  y[r] = x[(r - low) / (interior + 1)] where that is a row of x, `value` elsewhere.
// Shard:   tile i of t rows reads x from row ceil((i t - low) / (interior + 1)) on: the rows of x that lie in
//          [i t, i t + t) of y. Positions before, between and after rows of x become `value`.
//          If x is a slice, the tile fetches rows of the sliced array (read_through.h).
// Example: f32[8] padded by low = 2 over 2: t = 5, tile 1 reads x[3, 8) and gets row 3 from tile 0.
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule PadShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionPad(OpContext& context);
std::vector<OperandWindows> ReadsOfPad(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid
