// Collective-permute: every source writes all of its payload straight to its target, routed by the network ("direct").
//
//   T = collective_cost + latency of the longest way + (flows of all pairs, max-min fair) / efficiency
// where a flow is limited by J, the injection rate, and by its share of each link. Pairs on one chip take no link; a
// pair of a core with itself costs nothing. One pair alone: T = collective_cost + latency + p / min(B, J).
// The efficiency is that of the packet level for the slice ("permute"); neighbours alone wait for nobody: 1.
// Example: 4 MiB from chip 0 to chip 2 and from chip 1 to chip 2 of a line at 82 GB/s: the link 1 -> 2 carries both,
// 102.3 us.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "simulator/collectives/traffic.h"

namespace toroid {

// Pairs (source, target) of cores; each core at most once a source and once a target.
// Errors: kUnavailable if dead links leave no way.
absl::StatusOr<CollectivePlan> PlanDirectPermute(const CollectiveNetwork& network,
                                                 absl::Span<const std::pair<int64_t, int64_t>> pairs);

}  // namespace toroid
