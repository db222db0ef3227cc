// Which core runs which device (partition) of a program.
//
// row-major        device d on core d
// snake            every device on the chip of the one before it, or beside it: rows of chips there and back
// topology-aware   devices of a mesh so that the cores along each of its axes lie on a line: each mesh axis, the last one
//                  first, takes the cores of a chip or a part of one axis of the slice, whole if their sizes match
// best             the one of a few dozen candidates for which a given cost is least: the snake, each order in which mesh axes
//                  may choose, each order of the axes of the slice; among equals the first
// Example (GShard, figure 10): a tensor cut 2 x 4 whose rows exchange data, on 2 x 4 chips of one core: mesh {2, 4} puts
// each row of 4 devices on 4 neighbouring chips of the axis of 4, not on a square.
// Source: GShard, arXiv:2006.16668, figure 10.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/devices/replica_groups.h"
#include "simulator/network/topology.h"

namespace toroid {

// Errors of all: kInvalidArgument if the slice has fewer cores than there are devices.
absl::StatusOr<std::vector<int64_t>> RowMajorAssignment(const Topology& topology, int64_t devices);

absl::StatusOr<std::vector<int64_t>> SnakeAssignment(const Topology& topology, int64_t devices);

// `mesh`: sizes of the mesh axes, the last one fastest in device numbers. Errors: also for sizes below 1.
absl::StatusOr<std::vector<int64_t>> TopologyAwareAssignment(const Topology& topology,
                                                             absl::Span<const int64_t> mesh);

// `text`: one core per device, 0 first, separated by white space or commas; from # to the end of a line is a comment.
// Errors: kInvalidArgument "PLACE:LINE: ..." for what is no core below `core_count` or occurs twice; too many or too few.
absl::StatusOr<std::vector<int64_t>> ParseAssignment(int64_t core_count, int64_t devices,
                                                     absl::string_view text, absl::string_view place);

// Seconds (or any other measure) of an assignment. Errors end the search.
using AssignmentCost = std::function<absl::StatusOr<double>(const std::vector<int64_t>& core_of_device)>;
absl::StatusOr<std::vector<int64_t>> BestAssignment(const Topology& topology, absl::Span<const int64_t> mesh,
                                                    const AssignmentCost& cost);

// The mesh that the groups of a program's collectives cut `devices` into: sizes by the strides at which their members
// lie. Groups that no such mesh has are left out. Example: 8 devices, groups {0,1,2,3},{4,5,6,7}: {2, 4}.
std::vector<int64_t> MeshOfGroups(int64_t devices, absl::Span<const DeviceGroups> groups);

}  // namespace toroid
