// `reshape`: dimensions of operand and result are split into common factors, from the major side on. The
// local program is the op itself.
//
// Example: f32[6,4] -> f32[24] is (i j) -> ((i j)). If sizes have no common factor, e.g. [3,2] -> [2,3], the
//          dimensions up to the next common boundary are never cut.
//
// The leading factor of a dimension may be cut unevenly: of its f parts, each of g devices takes ceil(f / g)
// whole ones, and a halo exchange moves elements between these and the tiles of the merged dimension.
// Example: f32[6,4] -> f32[24] over 4: tiles of 2 rows have 8 elements and become tiles of 6. Tile 1 gets 2
//          elements from tile 0, tile 2 gets 4 from tile 1, and tile 3 gets all 6 from tile 2.
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ReshapeShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionReshape(OpContext& context);

// The rows that an uneven cut of a leading factor fetches, in rows of the operand's dimension or of the
// result's.
std::vector<OperandWindows> ReadsOfReshape(const Instruction& op, int factor, int64_t tiles);

}  // namespace toroid
