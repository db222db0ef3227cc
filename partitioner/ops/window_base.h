// The base rows that a tile reads, for the windowed ops: convolution, reduce-window.
//
// Output tile i owns w windows, from window i w on. In positions of the dilated base, it reads (w - 1) stride
// + (k - 1) dilation + 1 positions from i w stride - low on, for a window of k rows. A halo exchange fetches
// the base rows at these positions; positions outside of the base and holes of the base dilation get the
// padding value, and the op runs without padding.
//
// If the window is cut instead, tile i owns t of its k rows, from row i t on. For all w outputs it reads (w -
// 1) stride + (t - 1) dilation + 1 positions from i t dilation - low on.
// Source: GShard, arXiv:2006.16668, A.4.
#pragma once

#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/tile_windows.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// The base rows that a tile of t outputs reads.
TileWindows WindowsOf(const WindowDim& window, int64_t t);

// The base rows that a tile of t rows of the window reads for all w outputs.
TileWindows WindowsOfPart(const WindowDim& window, int64_t t, int64_t w);

// How many of the n base rows, counted from the first, the `outputs` windows may read.
int64_t RowsRead(const WindowDim& window, int64_t outputs, int64_t n);

// Fetches the positions of the dilated base that the w local windows read: the rows of x in `read`, and
// `fill` at all other positions.
Instruction* FetchBase(SpmdBuilder& b, Instruction* x, const AxisList& axes, int64_t w,
                       const OperandWindows& read, const WindowDim& window, Instruction* fill);

// The window for the result of FetchBase: without padding and base dilation.
WindowDim OnFetchedBase(WindowDim window);

}  // namespace toroid
