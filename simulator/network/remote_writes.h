// What cores write into the memory of others in a pattern of traffic, write by write.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/types/span.h"
#include "hlo/base/units.h"
#include "simulator/machines/network.pb.h"
#include "simulator/network/topology.h"

namespace toroid {

struct RemoteWrite {
  int64_t target_core = 0;
  Bytes bytes = 0;  // At most write_bytes, at least 1.
};
// What a core writes: its first write, its second, ... false after the last.
using WritesOfCore = std::function<bool(int64_t core, int64_t index, RemoteWrite* write)>;

// Writes of an all-to-all among all cores of the slice, p bytes of each: chunk by chunk round all destinations, in an order
// that each core draws for itself. (In the order of core numbers cores would keep meeting at the same links.) Pieces are
// p / cores, rounded up.
WritesOfCore AllToAllWrites(const Topology& topology, const RouterSpec& router, Bytes bytes_per_core,
                            uint64_t seed = 0);

// Writes of `bytes` from each source to its target, chunk by chunk.
WritesOfCore PermuteWrites(const Topology& topology, const RouterSpec& router,
                           absl::Span<const std::pair<int64_t, int64_t>> pairs, Bytes bytes);

}  // namespace toroid
