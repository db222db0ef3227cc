// Halo exchange: every partition gets a window of a cut dimension, from as many others as it takes.
//
// Rows that a tile lacks come by collective-permutes as PlanHalo decides; each carries only the rows that
// somebody needs of it. The pieces are laid end to end, and a slice takes the window, by tile where windows
// begin at different rows of the pieces. Rows outside [0, n) are unspecified: callers mask them.
//
// A tile that the device cut out of an array of its own (SpmdBuilder::CutTile) is not asked for from others: the window is read
// from that array.
//
// The wanted cut may have more axes than the present one, or fewer: so tiles are realigned where boundaries
// of two cuts do not nest.
//
// Example: n = 8 over 2 tiles, windows of 5 from {-2, 3}: tile 1 lacks row 3: one permute of one row.
// Source: GShard, arXiv:2006.16668, A.4; GSPMD, arXiv:2105.04663, section 4.4.
#ifndef TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_
#define TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_

#include "partitioner/reshard/halo_plan.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// A dimension of n rows and what cuts it.
struct CutDimension {
  int dim;
  int64_t n;
  AxisList axes;
};

// The windows along `dim` of `x`, whose dimension of n rows is cut over `from`; tiles are counted along `to`.
// One of the lists is a prefix of the other.
Instruction* FetchWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& from,
                         const AxisList& to, const TileWindows& windows);

// As FetchWindow for one cut, with rows outside [0, n) replaced by the scalar `fill`.
Instruction* FetchMaskedWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                               const TileWindows& windows, Instruction* fill);

// As FetchMaskedWindow, of x spread by the windows' divisor: between its rows lie divisor - 1 of `fill`. Tile
// i gets `length` positions of it from scale i + shift - (divisor - 1): its window begins with the first row that is not before
// them.
Instruction* FetchSpreadWindow(SpmdBuilder& b, Instruction* x, const CutDimension& cut,
                               const TileWindows& windows, int64_t length, Instruction* fill);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_
