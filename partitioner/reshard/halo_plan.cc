#include "partitioner/reshard/halo_plan.h"

#include <algorithm>
#include <map>

#include "hlo/base/math.h"

namespace toroid {

HaloPlan PlanHalo(int64_t n, int64_t tiles, absl::Span<const int64_t> start, int64_t len) {
  const int64_t s = CeilOfRatio(n, tiles);
  const int64_t places = static_cast<int64_t>(start.size());
  std::map<int64_t, HaloPlan::Hop> hops;
  for (int64_t place = 0; place < places && s > 0; ++place) {
    const int64_t i = place / (places / tiles);
    const int64_t begin = std::max<int64_t>(start[place], 0);
    const int64_t end = std::min(start[place] + len, n);
    for (int64_t source = begin / s; begin < end && source * s < end; ++source) {
      HaloPlan::Hop& hop = hops[source - i];
      const int64_t lo = std::max(begin - source * s, int64_t{0});
      const int64_t hi = std::min(end - source * s, s);
      if (hop.targets.empty()) {
        hop.lo = lo;
        hop.hi = hi;
      }
      hop.distance = source - i;
      hop.lo = std::min(hop.lo, lo);
      hop.hi = std::max(hop.hi, hi);
      hop.targets.push_back(place);
    }
  }
  HaloPlan plan;
  for (auto& [distance, hop] : hops) {
    if (distance != 0) plan.sent_rows += hop.hi - hop.lo;
    plan.hops.push_back(std::move(hop));
  }
  return plan;
}

std::vector<int64_t> RealignStarts(const Mesh& mesh, int64_t n, const AxisList& from, const AxisList& to) {
  const int64_t places = std::max(mesh.Product(from), mesh.Product(to));
  const int64_t tiles = mesh.Product(to);
  const int64_t size = CeilOfRatio(n, tiles);
  std::vector<int64_t> start(places);
  for (int64_t place = 0; place < places; ++place) start[place] = place / (places / tiles) * size;
  return start;
}

}  // namespace toroid
