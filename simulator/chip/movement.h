// Moving elements within registers: transposes, copies between layouts, values spread over lanes.
#ifndef TOROID_SIMULATOR_CHIP_MOVEMENT_H_
#define TOROID_SIMULATOR_CHIP_MOVEMENT_H_

#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// Cycles that a transpose, copy, reshape or broadcast takes beside its memory traffic; 0 for other ops. By what becomes of
// the minor dimension, dimensions of one element left out:
//   stays          nothing; where tiles that are written have fewer rows than a register, narrow_tile_cycles for each
//   is another     windows of what is read and written (transpose_windows.h)
// A broadcast along the minor dimension of a value that has one element for each row
// takes lane_broadcast_cycles for each `sublanes` rows.
double MovementCycles(const Instruction& op, const CoreSpec& core);

// A reduce-window whose result at i folds the elements up to i, or from i on: a cumulative sum.
bool IsRunningFold(const Instruction& reduce_window);

// Elements of a window, holes left out.
double WindowElements(const Instruction& op);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_CHIP_MOVEMENT_H_
