// Halo exchange: each device gets its window of a cut dimension.
//
// Rows that a tile lacks come from other tiles by collective-permutes, which PlanHalo plans; each permute
// carries only rows that some receiver needs. The pieces are concatenated. If the windows begin at different
// rows of the pieces, a dynamic slice then takes the window. Rows outside [0, n) are unspecified: callers
// mask them.
//
// If the device cut its tile out of an array that it holds (SpmdBuilder::CutTile), the window is read from
// that array, without communication.
//
// The wanted cut may have more or fewer axes than the present one. So the exchange also realigns tiles when
// the boundaries of two cuts do not nest.
//
// Example: 8 rows over 2 tiles; the windows have 5 rows and begin at rows {-2, 3}. Tile 1 lacks row 3: one
// permute of one row.
// Source: GShard, arXiv:2006.16668, A.4; GSPMD, arXiv:2105.04663, section 4.4.
#pragma once

#include "partitioner/reshard/halo_plan.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// The device's window along `dim` of `x`, whose dimension of n rows is cut over `from`. Windows are numbered
// by the coordinate along `to`. Requires: one of the lists is a prefix of the other.
Instruction* FetchWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& from,
                         const AxisList& to, const TileWindows& windows);

// As FetchWindow with from = to = `axes`; rows outside [windows.first, n) are replaced by the scalar `fill`.
Instruction* FetchMaskedWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                               const TileWindows& windows, Instruction* fill);

// As FetchMaskedWindow on `x` dilated by the windows' divisor: divisor - 1 rows of `fill` lie between
// neighbouring rows. Tile i gets the `length` positions of the dilated array that begin at scale i + shift -
// (divisor - 1). The first row of x at or behind that position is the first row of its window.
Instruction* FetchSpreadWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                               const TileWindows& windows, int64_t length, Instruction* fill);

}  // namespace toroid
