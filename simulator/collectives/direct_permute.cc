#include "simulator/collectives/direct_permute.h"

#include <algorithm>
#include <vector>

#include "hlo/base/status.h"

namespace toroid {

absl::StatusOr<CollectivePlan> PlanDirectPermute(const CollectiveNetwork& network,
                                                 absl::Span<const std::pair<int64_t, int64_t>> pairs) {
  const Topology& topology = network.topology;
  std::vector<int64_t> target(topology.cores(), -1);
  for (const auto& [from, to] : pairs) target[from] = to;
  Traffic traffic(topology, Fold(topology, [&](absl::Span<const int32_t> image) {
                    return std::all_of(pairs.begin(), pairs.end(),
                                       [&](const std::pair<int64_t, int64_t>& pair) {
                                         return target[ImageOfCore(topology, image, pair.first)] ==
                                                ImageOfCore(topology, image, pair.second);
                                       });
                  }));
  CollectivePlan plan;
  plan.algorithm = "direct";
  double longest = 0;
  bool far = false;
  Router router(topology);
  std::vector<LinkShare> links;
  for (const auto& [from, to] : pairs) {
    const int64_t chip = topology.ChipOfCore(from), next = topology.ChipOfCore(to);
    const int64_t alike = traffic.folding().chip_count[chip];
    if (alike == 0) continue;
    links.clear();
    RETURN_IF_ERROR(router.Route(chip, next, &links));
    longest = std::max(longest, router.Latency(chip, next));
    far = far || links.size() > 1;
    traffic.Add(1, static_cast<double>(alike), links, chip == next ? 0 : 1,
                network.network.injection_bytes_per_second());
  }
  plan.fixed_seconds = network.network.collective_cost_seconds() + longest;
  if (far) {
    BoxShape shape;
    for (const TopologyAxis& a : topology.axes()) {
      if (a.size == 1) continue;
      shape.chips.push_back(a.size);
      shape.far_wrap.push_back(a.far_wrap);
    }
    plan.pattern = "permute";
    plan.shapes.push_back(std::move(shape));
  }
  plan.phases.push_back(std::move(traffic));
  return plan;
}

}  // namespace toroid
