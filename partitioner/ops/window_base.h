// The rows that the windows of a tile read, for the windowed ops: convolution, reduce-window.
//
// Output tile i owns w windows from i w. On the base spread by its dilation it reads positions
// [i w stride - low, i w stride - low + (w - 1) stride + (k - 1) dilation + 1). A halo exchange fetches the rows behind
// them, what lies outside the base is replaced by the padding value, holes of the base dilation are filled in, and the
// op runs without padding.
//
// If the window is cut instead, tile i owns t of its k rows from i t, and reads for all w outputs [i t dilation - low, i t
// dilation - low + (w - 1) stride + (t - 1) dilation + 1).
// Source: GShard, arXiv:2006.16668, A.4.
#ifndef TOROID_PARTITIONER_OPS_WINDOW_BASE_H_
#define TOROID_PARTITIONER_OPS_WINDOW_BASE_H_

#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/tile_windows.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// The rows behind the windows of a tile of t.
TileWindows WindowsOf(const WindowDim& window, int64_t t);

// The rows behind what a tile with t rows of the window reads for w outputs.
TileWindows WindowsOfPart(const WindowDim& window, int64_t t, int64_t w);

// The first of n rows that `outputs` windows may read: no window reads the rows behind them.
int64_t RowsRead(const WindowDim& window, int64_t outputs, int64_t n);

// The positions that the w local windows read.
Instruction* FetchBase(SpmdBuilder& b, Instruction* x, const AxisList& axes, int64_t w,
                       const OperandWindows& read, const WindowDim& window, Instruction* fill);

// The window as it runs over what FetchBase gives.
WindowDim OnFetchedBase(WindowDim window);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_WINDOW_BASE_H_
