// `reshape`: common factors of both sides, from the major side. The local program is the op itself.
//
// The leading factor of a dimension may be cut unevenly: of f parts over g devices each takes ceil(f / g) whole parts, and
// a halo exchange moves elements between these and the tiles of the dimension of all factors.
// Example: f32[6,4] -> f32[24] over 4: tiles of 2 rows, 8 elements, become tiles of 6: two permutes, of 2 and of 4.
//
// Example: f32[6,4] -> f32[24] is (i j) -> ((i j)). Where sizes have no common factor, e.g. [3,2] -> [2,3], the
// dimensions up to the next common boundary are private to each side.
#ifndef TOROID_PARTITIONER_OPS_RESHAPE_H_
#define TOROID_PARTITIONER_OPS_RESHAPE_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ReshapeShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionReshape(OpContext& context);

// The rows that an uneven cut of a leading factor moves, counted in the operand or in the result.
std::vector<OperandWindows> ReadsOfReshape(const Instruction& op, int factor, int64_t tiles);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_RESHAPE_H_
