// Rings of cores, and what a reduce-scatter or all-gather around one puts on the links.
//
// In a ring of g members that holds `payload` bytes, a reduce-scatter sends from each member to the next
// (g - 1) / g of the payload; an all-gather that gathers `payload` bytes as much. Half goes around each way at once:
//   bytes on each way between two neighbours = payload / 2 * (g - 1) / g,   steps = floor(g / 2)
// Rings along an axis take in all cores of each chip. Where the axis closes, the cores of a chip follow each other, and
// each direction of a link carries one way of the ring; on an open axis the ring goes out over the first core of each
// chip and back over the others, and each direction of a link carries both ways. One core per chip on an open axis: the
// last is joined to the first through all between, which loads links alike.
// Example: 4 chips of 2 cores in a line, 8 MiB: 8 members, 3.5 MiB each way, 7 MiB on each direction of a link, 4 steps.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "simulator/collectives/group_box.h"
#include "simulator/network/routing.h"

namespace toroid {

// Adds what `bytes` from each member to the next, and as many to the one before, put on links; and to injected[c], for
// each core c of the slice, those that leave its chip. Rings of one member send nothing.
absl::Status AddRing(const Topology& topology, absl::Span<const int64_t> cores, double bytes, Router* router,
                     std::vector<LinkShare>* links, std::vector<double>* injected);

// Order of the ring along box.axes[axis] through the chips at `at` (whose entry for the axis does not matter) and
// the cores at `places` of each chip.
std::vector<int64_t> RingAlongAxis(const Topology& topology, const GroupBox& box, int axis,
                                   std::vector<int64_t> at, absl::Span<const int64_t> places);

// Order of one ring through all members. A box of two axes or more, one of them of even length: from neighbour to
// neighbour, closed. Of other members: back and forth over the axes, the last joined to the first by the network.
std::vector<int64_t> RingThroughAll(const Topology& topology, absl::Span<const int64_t> cores);

}  // namespace toroid
