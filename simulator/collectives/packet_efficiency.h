// The rows of a table of router efficiencies: each pattern once by flows, once by packets.
//
//   efficiency = flow time / packet time, the packet time a mean over draws of channels and orders
// Patterns: "all-to-all" of all cores of the slice; "permute", where each core writes all it has to one other, drawn by
// chance.
#pragma once

#include "absl/status/statusor.h"
#include "simulator/machines/network.pb.h"

namespace toroid {

// Fills in `row.efficiency` from the row's pattern, shape and bytes; far_wrap implies wrap. At most 1.
// Errors: kInvalidArgument for an unknown pattern; those of SimulatePackets.
absl::StatusOr<RouterEfficiencyTable::Row> ComputeRouterEfficiency(const NetworkSpec& network,
                                                                   RouterEfficiencyTable::Row row);

// How many draws a row of so many cores takes the mean of: the more cores, the less one draw differs from another.
int DrawsOf(int64_t cores);

}  // namespace toroid
