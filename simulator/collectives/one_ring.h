// All-reduce, reduce-scatter, all-gather and broadcast around one ring through all members ("ring").
//
// A ring of g members passes half of the payload each way (see ring.h). Reduce-scatter and all-gather are one pass, an
// all-reduce is two; a broadcast sends the whole payload each way round half of the ring, piece after piece:
//   T = collective_cost + step_cost * passes * floor(g / 2) + local_pass * p + max(L * p / B, I / J)
// p payload of a core (of an all-gather what it ends with), no local pass for a broadcast; B link rate; L bytes on the
// busiest link for each byte of payload; I most bytes that a core puts into links; J injection rate. For all cores of n x
// m chips, two each, n even, the ring goes from neighbour to neighbour: each pass has
//   L = (g - 1) / (2 g),   I = p (g - 1) / (2 g): every second hop is on a chip
// Exact for groups that share no links; where groups do, flows are simulated. Any group, of any shape.
// Example: all-gather to 32 MiB on 4 x 4 chips, g = 32, 82 GB/s, without fixed costs and limits: 198.2 us.
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 2005, ring algorithms, data split over two directions.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/base/units.h"
#include "hlo/devices/replica_groups.h"
#include "simulator/collectives/traffic.h"

namespace toroid {

enum class RingUse { kOnePass, kTwoPasses, kBroadcast };

// `groups` are cores of the slice, more than one each. A broadcast starts at the first member of a group.
// Errors: kUnavailable if dead links leave no way.
absl::StatusOr<CollectivePlan> PlanOneRing(const CollectiveNetwork& network, const DeviceGroups& groups,
                                           RingUse use);

// The formula above, for a ring of neighbours through all `g` cores of a slice with two cores per chip.
double OneRingSeconds(const NetworkSpec& network, int64_t g, int64_t passes, Bytes payload);

}  // namespace toroid
