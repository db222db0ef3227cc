// Moving elements within registers: transposes, copies between layouts, values spread over lanes.
#pragma once

#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"
#include "simulator/program/tiling.h"

namespace toroid {

// Cycles that a transpose, copy, reshape or broadcast takes beside its memory traffic; 0 for other ops. By what becomes of
// the minor dimension, dimensions of one element left out:
//   stays          nothing; where tiles that are written have fewer rows than a register, narrow_tile_cycles for each
//   is another     windows of what is read and written (transpose_windows.h)
// A reshape that joins tiles is a copy to tiles of as many rows as lay beside each other.
// A broadcast along the minor dimension of a value that has one element for each row
// takes lane_broadcast_cycles for each `sublanes` rows.
double MovementCycles(const Instruction& op, const CoreSpec& core);

}  // namespace toroid
