// Which chips and links fare alike, so that one of each class is simulated for all.
//
// A map of the slice onto itself that keeps links, routes and the pattern of communication carries every max-min fair
// solution to another one, and there is only one: chips and links that such maps exchange fare alike. Tried are, for each
// axis, the reflection (c to size - 1 - c) and, where messages wrap or a switch joins all, the translation by the
// smallest divisor of its size that keeps the pattern. Cores of a chip stay with it, in order. Dead links: no fold.
// Example: all-to-all of all cores of a torus: one chip and, per axis, one link stand for all; of an open 32 x 32 mesh,
// 256 chips.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "simulator/network/topology.h"

namespace toroid {

struct Folding {
  std::vector<int32_t> chip_class;  // By chip, the smallest chip of its class.
  std::vector<int32_t> link_class;  // By link id, a dense number.
  std::vector<int64_t> chip_count;  // By chip, members of its class; 0 for all but the smallest.
  std::vector<double> capacity;     // By link class, bytes per second of its members in sum.
  std::vector<int64_t> link_count;  // By link class, members.
};

// Whether the pattern is the same after core c became image[chip of c] * cores_per_chip + its place on the chip.
using KeepsPattern = std::function<bool(absl::Span<const int32_t> image)>;

// `fold` false: every chip and link on its own.
Folding Fold(const Topology& topology, const KeepsPattern& keeps_pattern, bool fold = true);

// The core to which `core` is carried.
inline int64_t ImageOfCore(const Topology& topology, absl::Span<const int32_t> image, int64_t core) {
  const int64_t cores = topology.cores_per_chip();
  return image[core / cores] * cores + core % cores;
}

}  // namespace toroid
