// Moving elements within registers: transposes, copies between layouts, values spread over lanes.
#pragma once

#include "hlo/ir/instruction.h"
#include "simulator/lowering/tiling.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// Cycles that a transpose, copy, reshape or broadcast takes beside its memory traffic; 0 for other ops. By what becomes of
// the minor dimension, dimensions of one element left out:
//   stays          nothing; where tiles that are written have fewer rows than a register, narrow_tile_cycles for each
//   is another     windows of what is read and written (transpose_windows.h)
// A reshape that joins tiles is a copy to tiles of as many rows as lay beside each other.
// A broadcast along the minor dimension of a value that has one element for each row
// takes lane_broadcast_cycles for each `sublanes` rows.
double MovementCycles(const Instruction& op, const CoreSpec& core);

// A reshape of whole tiles, several of them beside each other, to a vector.
// Example: of f32[512,512] four tiles lie beside each other. Their rows of 128 follow each other in f32[262144], as they do in
// f32[64,8,4,128] with tiles of 4 x 128.
bool JoinsTiles(const Instruction& op, const Tiling& tiling);

// A reduce-window whose result at i folds the elements up to i, or from i on: a cumulative sum.
bool IsRunningFold(const Instruction& reduce_window);

// Elements of a window, holes left out.
double WindowElements(const Instruction& op);

}  // namespace toroid
