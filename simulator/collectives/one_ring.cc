#include "simulator/collectives/one_ring.h"

#include <algorithm>
#include <vector>

#include "hlo/base/status.h"
#include "simulator/collectives/ring.h"

namespace toroid {
namespace {

// What a broadcast of one byte from `source` puts on links: to both sides of it, as far as the middle of the ring.
absl::Status AddBroadcast(const Topology& topology, absl::Span<const int64_t> ring, int64_t source,
                          Router* router, std::vector<LinkShare>* links, std::vector<double>* injected) {
  const int64_t g = static_cast<int64_t>(ring.size());
  const int64_t at = std::find(ring.begin(), ring.end(), source) - ring.begin();
  for (int64_t step = 0; step + 1 < g; ++step) {
    // The first half of the others ahead, the rest behind.
    const bool ahead = step < g / 2;
    const int64_t hop = ahead ? step : step - g / 2;
    const int64_t from = ring[(at + (ahead ? hop : g - hop)) % g],
                  to = ring[(at + (ahead ? hop + 1 : g - hop - 1)) % g];
    const int64_t chip = topology.ChipOfCore(from), next = topology.ChipOfCore(to);
    if (chip == next) continue;
    RETURN_IF_ERROR(router->Route(chip, next, links));
    (*injected)[from] += 1;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CollectivePlan> PlanOneRing(const CollectiveNetwork& network, const DeviceGroups& groups,
                                           RingUse use) {
  const Topology& topology = network.topology;
  const double passes = use == RingUse::kTwoPasses ? 2 : 1;
  CollectivePlan plan;
  plan.algorithm = "ring";
  Router router(topology);
  Traffic traffic(topology);
  std::vector<LinkShare> links;
  std::vector<double> injected(topology.cores(), 0);
  int64_t most_steps = 0;
  for (int64_t i = 0; i < groups.size(); ++i) {
    const absl::Span<const int64_t> group = groups.group(i);
    const double g = static_cast<double>(group.size());
    most_steps = std::max(most_steps, static_cast<int64_t>(group.size()) / 2);
    const std::vector<int64_t> ring = RingThroughAll(topology, group);
    links.clear();
    if (use == RingUse::kBroadcast) {
      RETURN_IF_ERROR(AddBroadcast(topology, ring, group[0], &router, &links, &injected));
    } else {
      RETURN_IF_ERROR(AddRing(topology, ring, passes / 2 * (g - 1) / g, &router, &links, &injected));
    }
    double most = 0;
    for (const int64_t core : group) {
      most = std::max(most, injected[core]);
      injected[core] = 0;
    }
    traffic.Add(1, 1, links, most, network.network.injection_bytes_per_second());
  }
  plan.phases.push_back(std::move(traffic));
  plan.fixed_seconds = network.network.collective_cost_seconds() +
                       network.network.step_cost_seconds() * passes * static_cast<double>(most_steps);
  if (use != RingUse::kBroadcast) plan.pass_seconds_per_byte = network.network.local_pass_seconds_per_byte();
  return plan;
}

double OneRingSeconds(const NetworkSpec& network, int64_t g, int64_t passes, Bytes payload) {
  const double members = static_cast<double>(g);
  const double bytes =
      static_cast<double>(payload) * static_cast<double>(passes) * (members - 1) / (2 * members);
  return network.collective_cost_seconds() +
         network.step_cost_seconds() * static_cast<double>(passes * (g / 2)) +
         network.local_pass_seconds_per_byte() * static_cast<double>(payload) +
         std::max(bytes / network.link_bytes_per_second(), bytes / network.injection_bytes_per_second());
}

}  // namespace toroid
