// All-reduce, reduce-scatter and all-gather by rings along one axis of a box after the other ("axes").
//
// The payload is divided into `colors`; each color begins with another axis. A reduce-scatter of a color runs along its
// first axis, over all cores of each chip, then with the 1 / g that is left along the next axis, each core of a chip in a
// ring of its own, and so on; an all-gather goes the same way back; an all-reduce is both. Colors run at the same
// time, phases one after the other:
//   T = collective_cost + step_cost * steps + local_pass * p + sum over phases of max(L * p / B, I / J)
// steps: floor(g / 2) for each ring of g members and pass, of the color that has most; p payload of a core (of an
// all-gather what it ends with); B link rate; J injection rate; L bytes on the busiest link, I most bytes that a core
// puts into links. Sums over the phases of an all-reduce of all cores of n x m chips, two cores each:
//   open, n = m, two colors:    L = 1 + 1/(2n) - 1/n^2                        I about 2p
//   open, one color, X first:   L = (2n - 1)/n + (2/n) (m - 1)/m              I about 2p
//   closed, one color, X first: L = (2n - 1)/(2n) + (1/n) (m - 1)/m           I about p: every second hop is on a chip
// Exact for groups that share no links; where groups do, flows are simulated.
// Example: 8 x 8 open, two colors, 8 MiB at 82 GB/s: L = 1.046875, 107.1 us.
// Sources: Ying et al., arXiv:1811.06992 (2-D all-reduce); colors, phases and ring members as the TPU compiler's names
// of its collectives tell.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/base/units.h"
#include "hlo/devices/replica_groups.h"
#include "simulator/collectives/group_box.h"
#include "simulator/collectives/traffic.h"

namespace toroid {

// Passes over the payload: an all-reduce makes two, the others one.
enum class RingPasses { kOne = 1, kTwo = 2 };

// Order of a color's axes, as places in GroupBox::axes; the first color begins with order[0], color k with order[k], and
// goes round from there.
struct ColorChoice {
  std::vector<int> order;
  int64_t colors = 1;
};

// What the machine's compiler chooses for a box of these axes: one choice, or those among which time decides.
std::vector<ColorChoice> ColorChoices(const GroupBox& box, const AlgorithmSpec& algorithms);

// All groups must be boxes of the same axes and lengths. `groups` are cores of the slice, more than one each.
// Errors: kFailedPrecondition if they are not; kUnavailable if dead links leave no way.
absl::StatusOr<CollectivePlan> PlanAxisRings(const CollectiveNetwork& network, const DeviceGroups& groups,
                                             RingPasses passes, const ColorChoice& choice);

// The formula above: seconds of an all-reduce of all cores of a slice of two axes with two cores per chip, the first color
// beginning with `first`. Two colors: axes alike. Exact where `first` has 3 chips or more, or is closed, or J does not bind.
struct RingAxis {
  int64_t chips = 1;
  bool closed = false;
};
double AxisAllReduceSeconds(const NetworkSpec& network, RingAxis first, RingAxis second, int64_t colors,
                            Bytes payload);

}  // namespace toroid
