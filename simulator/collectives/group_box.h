// A group of cores that fills a box: chips evenly spaced along each axis, the same cores on each.
// Example: on 4 x 4 chips of 2 cores, cores {0, 1, 4, 5, 16, 17, 20, 21}: chips 0 and 2 of axis 0 and of axis 1, both cores.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "simulator/network/router_efficiency.h"
#include "simulator/network/topology.h"

namespace toroid {

struct BoxAxis {
  int axis = 0;
  int64_t start = 0, stride = 1, count = 1;  // Coordinates start, start + stride, ...
  bool closed = false;                       // From the last to the first is as near as between neighbours.
};

struct GroupBox {
  std::vector<BoxAxis> axes;    // Of more than one chip, in the order of the topology's.
  std::vector<int64_t> places;  // Of the members on each chip, ascending.
  int64_t first_chip = 0;       // At the smallest coordinates.

  int64_t chips() const;
  // The chip at `at[i]`, from 0, along axes[i].
  int64_t Chip(const Topology& topology, absl::Span<const int64_t> at) const;
};

// Nullopt where the members are no box. Any order; no core twice.
std::optional<GroupBox> BoxOf(const Topology& topology, absl::Span<const int64_t> cores);

// The shape of the smallest box of neighbouring chips around the group, all of the slice if its chips are apart.
BoxShape ShapeAround(const Topology& topology, absl::Span<const int64_t> cores);

}  // namespace toroid
