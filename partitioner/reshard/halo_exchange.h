// Halo exchange: every partition gets a window of a cut dimension, from as many neighbours as it takes.
//
// A dimension of n elements is cut into t tiles of s = ceil(n / t). Tile i wants elements [start_i, start_i + len);
// start_i is any function of i. What it lacks comes by collective-permutes, one per distance h = source tile -
// target tile, each carrying only the rows that some partition needs over that distance; the pieces are laid end
// to end, and a dynamic slice by tile takes the window. Elements outside [0, n) are unspecified: callers mask them.
//
// The window may also differ between partitions that hold the same tile: `start` then lists one entry per place along
// `axes` extended by further axes, and per_tile of them belong to each tile. So tiles are realigned where boundaries
// of two cuts do not nest.
//
// Example: n = 8, t = 2, len = 5, start = {-2, 3}: s = 4; tile 1 lacks element 3: one permute of one row.
// Source: GShard, arXiv:2006.16668, A.4; GSPMD, arXiv:2105.04663, section 4.4.
#ifndef TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_
#define TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_

#include <vector>

#include "partitioner/reshard/halo_plan.h"
#include "partitioner/spmd_builder.h"

namespace toroid {

// The window along `dim` of `x`, whose dimension of n elements is cut over `axes`; start[i] for tile i.
Instruction* FetchWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                         absl::Span<const int64_t> start, int64_t len);

// As FetchWindow, with one start per place along `places`, of which `axes` is a prefix.
Instruction* FetchWindowAt(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                           const AxisList& places, absl::Span<const int64_t> start, int64_t len);

// As FetchWindow, with elements outside [0, n) replaced by the scalar `fill`.
Instruction* FetchMaskedWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                               absl::Span<const int64_t> start, int64_t len, Instruction* fill);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_
