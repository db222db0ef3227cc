// Groups of cores of several slices: what of them lies within slices, and what between them.
//
// Core c is core c % cores_per_slice of slice c / cores_per_slice.
// Example: 2 slices of 4 cores, all 8 in one group: within {0,1,2,3}; 2 slices, 4 members in each.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "hlo/devices/replica_groups.h"

namespace toroid {

struct SliceGroups {
  // Parts of groups with several members in one slice, as cores of that slice; slices that are alike stand here once.
  std::vector<DeviceGroups> within;
  // Slices in which a group has members, at most; of these groups the fewest members in one slice.
  int64_t slices = 1;
  int64_t members = 1;
  // Cores of one host that have members in a group of several slices, at most.
  int64_t host_cores = 0;
};

SliceGroups SplitBySlice(const DeviceGroups& cores, int64_t cores_per_slice, int64_t cores_per_host);

// The same of messages (from, to).
struct SlicePairs {
  std::vector<std::vector<std::pair<int64_t, int64_t>>> within;
  // Cores of one host that send to other slices, at most.
  int64_t host_cores = 0;
};

SlicePairs SplitBySlice(absl::Span<const std::pair<int64_t, int64_t>> cores, int64_t cores_per_slice,
                        int64_t cores_per_host);

}  // namespace toroid
