// How many devices take part in a collective, as far as the module shows.
//
// Groups that list or compute their members give the number themselves. Empty groups mean all devices. HLO
// text and protos written by a compiler may lack the number of devices. It is then taken from the first of
// these that exists: the header or configuration, the device assignment, the shardings recorded by
// partitioning, the largest id in any collective of the module.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "hlo/ir/module.h"

namespace toroid {

struct DeviceCounts {
  std::optional<int64_t> replicas, partitions;
};

// The counts that the module states or implies. The module need not be valid.
DeviceCounts DeviceCountsOf(const Module& module);

// The sizes of the groups of a collective that has groups (no collective-permute); nullopt if they are
// unknown or contradictory. Example: replica_groups={{0,1,2},{3}} gives {1, 3}.
std::optional<std::set<int64_t>> GroupSizesOf(const Instruction& instruction, const DeviceCounts& counts);

}  // namespace toroid
