// Halo exchange: every partition gets a window of a cut dimension, from as many neighbours as it takes.
//
// A dimension of n elements is cut into t tiles of s = ceil(n / t). Tile i wants elements [start_i, start_i + len);
// start_i is any function of i. What it lacks comes by collective-permutes, one per distance h = source tile -
// target tile, each carrying only the rows that some partition needs over that distance; the pieces are laid end
// to end, and a dynamic slice by tile takes the window. Elements outside [0, n) are unspecified: callers mask them.
//
// Example: n = 8, t = 2, len = 5, start = {-2, 3}: s = 4; tile 1 lacks element 3: one permute of one row.
// Source: GShard, arXiv:2006.16668, A.4; GSPMD, arXiv:2105.04663, section 4.4.
#ifndef TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_
#define TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_

#include <vector>

#include "partitioner/spmd_builder.h"

namespace toroid {

struct HaloPlan {
  struct Hop {
    int64_t distance = 0;               // source tile - target tile
    int64_t lo = 0, hi = 0;             // rows of the source tile that travel
    std::vector<int64_t> targets;       // tiles that receive
  };
  std::vector<Hop> hops;                // by distance, ascending; distance 0 is the own tile
  int64_t sent_rows = 0;                // per device, at most
};

HaloPlan PlanHalo(int64_t n, int64_t tiles, absl::Span<const int64_t> start, int64_t len);

// The window along `dim` of `x`, whose dimension of n elements is cut over `axes`; start[i] for tile i.
Instruction* FetchWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                         absl::Span<const int64_t> start, int64_t len);

// As FetchWindow, with elements outside [0, n) replaced by the scalar `fill`.
Instruction* FetchMaskedWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                               absl::Span<const int64_t> start, int64_t len, Instruction* fill);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_RESHARD_HALO_EXCHANGE_H_
