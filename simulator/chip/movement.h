// Moving elements within registers: transposes, copies between layouts, values spread over lanes.
#pragma once

#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"
#include "simulator/program/tiling.h"

namespace toroid {

// Cycles in which a transpose, copy, reshape or broadcast moves elements, in addition to its memory traffic; 0 for other ops.
// Dimensions of one element do not count. If the minor dimension
//   stays the minor one      0; if written tiles have fewer rows than a register, narrow_tile_cycles for each of them
//   becomes another one      the time of windows (transpose_windows.h)
// A reshape that joins tiles is a copy to tiles of as many rows as lay beside each other.
// A broadcast along the minor dimension of a value that has one element for each row
// takes lane_broadcast_cycles for each `sublanes` rows.
double MovementCycles(const Instruction& op, const CoreSpec& core);

}  // namespace toroid
