// What a halo exchange sends; see halo_exchange.h.
#ifndef TOROID_PARTITIONER_RESHARD_HALO_PLAN_H_
#define TOROID_PARTITIONER_RESHARD_HALO_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/mesh.h"

namespace toroid {

struct HaloPlan {
  struct Hop {
    int64_t distance = 0;               // source tile - target tile
    int64_t lo = 0, hi = 0;             // rows of the source tile that travel
    std::vector<int64_t> targets;       // places that receive
  };
  std::vector<Hop> hops;                // by distance, ascending; distance 0 is the own tile
  int64_t sent_rows = 0;                // per device, at most
};

// One start per tile, or per place where several places share a tile: place p lies in tile p / (places / tiles).
HaloPlan PlanHalo(int64_t n, int64_t tiles, absl::Span<const int64_t> start, int64_t len);

// Starts of the windows that turn a cut over `from` into a cut over `to` of a dimension of n elements; one list is a
// prefix of the other, and the places are those of the longer one. The windows are ceil(n / tiles of `to`) long.
std::vector<int64_t> RealignStarts(const Mesh& mesh, int64_t n, const AxisList& from, const AxisList& to);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_RESHARD_HALO_PLAN_H_
