// How many devices take part in a collective, as far as the module tells.
//
// Groups that list or compute their members say so themselves. Empty groups mean every device, of which HLO text
// and protos that a compiler left need not name the number: it is taken from the header or the configuration,
// from the device assignment, from the shardings that partitioning recorded, or, where none is there, from the
// largest id that some collective of the module names.
#ifndef TOROID_HLO_ANALYSIS_DEVICE_GROUPS_H_
#define TOROID_HLO_ANALYSIS_DEVICE_GROUPS_H_

#include <cstdint>
#include <optional>
#include <set>

#include "hlo/ir/module.h"

namespace toroid {

struct DeviceCounts {
  std::optional<int64_t> replicas, partitions;
};

// What the module names, or lets infer; it need not be valid.
DeviceCounts DeviceCountsOf(const Module& module);

// The sizes of the groups of a collective that has groups (no collective-permute); nullopt where they are not
// known, or contradict themselves. Example: replica_groups={{0,1,2},{3}} gives {1, 3}.
std::optional<std::set<int64_t>> GroupSizesOf(const Instruction& instruction, const DeviceCounts& counts);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_DEVICE_GROUPS_H_
