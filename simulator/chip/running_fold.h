// Time of a cumulative sum by windows of on-chip memory, as Google's compiler for TPU v3 cuts them.
#pragma once

#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// Cycles of a running fold: each result is the sum of W elements, the array fills R registers. To make W results a window reads
// 2 W - 1 elements, each of which is a row of tiles. A row takes window_row_cycles, and as many again for each vector that is
// spread over its lanes, or for the array that is read:
//   windows x transpose_window_cycles + (2 W - 1) / W x window_row_cycles x (1 + vectors) x R
// - What is made in the group of vectors alone (spread_vectors.h; `is_alone` is false then) spreads them once for all tiles
// along the
//   lanes of a window, loads and stores registers, and stores the results of the last window when all is done.
// - What comes from memory takes as long as it is loaded and stored, if that is more, each tile with strided_run_cycles where a
// window
//   has part of the lanes.
// - Additions take W x window_element_cycles x R, if that is more.
// A window has running_window_tiles tiles at most: those that are folded, twice if they are loaded, those of vectors, and
// results, twice if there are several windows, which share the lanes evenly.
// Example: a one-hot mask of 2,048 tokens and 512 experts in windows of 128: one window of 255 x 2 x 4 tiles, 20.2 thousand
// cycles. Source: 50 masks and arrays of [1024,128] to [2048,2048] and [3,1024,256] to [32,256,512] in Google's compiler for
// TPU v3, which states their windows: most are met within 12 %.
double RunningFoldCycles(const Instruction& reduce_window, bool is_alone, const CoreSpec& core);

}  // namespace toroid
