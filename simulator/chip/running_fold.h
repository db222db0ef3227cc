// Time of a cumulative sum by windows of on-chip memory, as Google's compiler for TPU v3 cuts them.
#ifndef TOROID_SIMULATOR_CHIP_RUNNING_FOLD_H_
#define TOROID_SIMULATOR_CHIP_RUNNING_FOLD_H_

#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// Cycles of a running fold (movement.h) of W elements, R registers large. What it folds comes from memory:
//   R x the larger of W x window_element_cycles and window_load_cycles
// or is made in its group, of vectors spread along lanes for one: of the 2 W - 1 elements that a window folds each row of tiles takes
// window_row_cycles, and as many for each such vector, however many tiles lie beside it in the window, while others are added:
//   windows x transpose_window_cycles + 2 R x access_cycles
//     + the larger of windows x (2 W - 1) x rows of tiles x window_row_cycles x (1 + vectors) and W x window_element_cycles x R
// and the results of the last window are stored when all is done. Windows have running_window_tiles tiles at most: those that are
// folded, the vectors' and the results', twice if there are several windows, which share the lanes evenly.
// Example: a one-hot mask of 2,048 tokens and 512 experts in windows of 128: one window of 255 x 2 x 4 tiles, 20.2 thousand cycles.
// Source: masks of 1,024 to 4,096 tokens and 128 to 2,048 experts in Google's compiler for TPU v3, which states their windows: of 16
// within 11 %.
double RunningFoldCycles(const Instruction& reduce_window, const CoreSpec& core);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_CHIP_RUNNING_FOLD_H_
