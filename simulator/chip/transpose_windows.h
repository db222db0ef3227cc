// Time of a transpose by its windows, as Google's compiler for TPU v3 cuts them.
#pragma once

#include <cstdint>

#include "hlo/ir/shape.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// An array of `dims` that is read with its dimensions in the order `before`, minor first, and written in the order `after`, of
// which the first differs.
struct TransposedArray {
  Dims dims;  // Each more than one element.
  Dims before, after;
  bool rows_alone = false;  // Each row that is written has a tile of its own.
};

// Cycles of all windows. A window holds whole tiles (lanes of 128, rows of 8) of both sides, at most transpose_window_tiles of
// them together, and takes
//   transpose_window_cycles + transpose_cycles x (tiles read + tiles written)
// If on one side a window is no single piece of memory: strided_run_cycles more for each run of 1, 2, 4 or 8 tiles that lie
// together there, and two thirds of that for runs of 4 and 8. Of the windows possible those that take the fewest cycles.
// Example: f32[1024,1024] in windows of 512 x 512, each 552 + 8.96 x 512 + 2 x 64 x 3.6 cycles.
// Source: 430 copies and transposes in Google's compiler for TPU v3, which states their windows; half are met to 0.1 %.
double CyclesOfTransposeWindows(const TransposedArray& array, const CoreSpec& core);

}  // namespace toroid
