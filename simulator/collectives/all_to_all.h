// All-to-all by direct writes ("direct"), and along one axis after the other ("axes").
//
// Direct: every core writes its piece, p / g of its p bytes, straight into the memory of every other member, routed by the
// network. Its writes go round the destinations chunk by chunk, so that all of a core's pieces advance alike:
//   T = collective_cost + latency of the longest way + (max over links L of bytes / B, or p / J) / efficiency
// On all cores of an open mesh with two cores per chip and longest axis n, the links in its middle are busiest:
//   bytes = n * 2p / 4 (even n), on a torus half of it.
// Axes: an exchange of all p bytes along each axis, one after the other; first over all cores of the chips on a line, then
// each core with those that have its place on other chips. Each phase is a direct all-to-all of lines.
// The efficiency is that of the packet level for the shape around the groups ("all-to-all").
// Flow times are exact for one group of all cores, where all of a core's transfers end together.
// Example: 8 x 8 open, 8 MiB at 82 GB/s, efficiency 1, without fixed costs: 409.2 us; axes: 818.4 us.
// Source: GShard, arXiv:2006.16668, 5.3; remote writes as the TPU compiler makes them.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/base/units.h"
#include "hlo/devices/replica_groups.h"
#include "simulator/collectives/traffic.h"

namespace toroid {

// `groups` are cores of the slice, more than one each. The payload is what each core has, its own piece included.
// Errors: kUnavailable if dead links leave no way; of "axes" also kFailedPrecondition if the groups are no boxes.
absl::StatusOr<CollectivePlan> PlanDirectAllToAll(const CollectiveNetwork& network,
                                                  const DeviceGroups& groups);
absl::StatusOr<CollectivePlan> PlanAxesAllToAll(const CollectiveNetwork& network, const DeviceGroups& groups);

// The formula above without latency and efficiency: all cores of an open mesh or torus with longest axis n, n even.
double MeshAllToAllSeconds(const NetworkSpec& network, int64_t n, bool torus, int64_t cores_per_chip,
                           Bytes payload);

}  // namespace toroid
