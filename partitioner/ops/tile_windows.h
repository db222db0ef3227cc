// The operand rows that a tile of a result reads, for ops that move tile boundaries: slice, pad, concatenate,
// reverse, windows.
//
// The result's dimension is cut in tiles of t rows; tile i owns rows [i t, (i + 1) t). ReadsOf<Family>
// returns the operand rows that each tile reads. The family's local program fetches them
// (reshard/halo_exchange.h), and assignments count the bytes that this sends (CostOfExchanges in
// op_families.h).
//
// The windowed ops (convolution, reduce-window) read rows of a base. Output tile i owns w windows, from window
// i w on. In positions of the dilated base, it reads (w - 1) stride + (k - 1) dilation + 1 positions from
// i w stride - low on, for a window of k rows. A halo exchange fetches the base rows at these positions;
// positions outside of the base and holes of the base dilation get the padding value, and the op runs without
// padding.
//
// If the window is cut instead, tile i owns t of its k rows, from row i t on. For all w outputs it reads (w -
// 1) stride + (t - 1) dilation + 1 positions from i t dilation - low on.
// Source: GShard, arXiv:2006.16668, A.4.
#pragma once

#include <cstdint>

#include "hlo/ir/attribute_views.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {

struct OperandWindows {
  int operand = 0;
  int dim = 0;  // Dimension of the operand.
  TileWindows windows;
  // Rows of the operand's dimension, or fewer: tiles may get unspecified values for rows [size, all).
  int64_t size = 0;
  // Rows of the operand's dimension if `size` is fewer; 0: `size`.
  int64_t all = 0;
};

// Rows per tile of dimension `dim` of the op's first result, cut in `tiles`.
int64_t TileRows(const Instruction& op, int dim, int64_t tiles);

// Windows over the rows that lie in positions [scale i + shift, scale i + shift + span) for tile i, where row
// r lies at position r step. Their length is the largest number of such rows in any tile, at least 1.
// Example: step 2, span 4, scale 4, shift -1: tile 0 covers positions -1 to 2, in which rows 0 and 1 lie:
// length 2.
TileWindows SpreadWindows(int64_t scale, int64_t shift, int64_t span, int64_t step);

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
