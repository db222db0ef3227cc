#include "simulator/collectives/all_to_all.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "simulator/collectives/group_box.h"

namespace toroid {
namespace {

// Entries of the flow problem beyond which all cores of a group advance as one transfer.
constexpr int64_t kMostShares = int64_t{1} << 24;

// The group of every core of the slice, -1 for those in none.
std::vector<int32_t> GroupOfCores(const Topology& topology, const DeviceGroups& groups) {
  std::vector<int32_t> group_of(topology.cores(), -1);
  for (int64_t i = 0; i < groups.size(); ++i) {
    for (const int64_t core : groups.group(i)) group_of[core] = static_cast<int32_t>(i);
  }
  return group_of;
}

// Whether `image` carries each group onto one group, of the same size.
bool KeepsGroups(const Topology& topology, const DeviceGroups& groups, const std::vector<int32_t>& group_of,
                 absl::Span<const int32_t> image) {
  for (int64_t i = 0; i < groups.size(); ++i) {
    const absl::Span<const int64_t> group = groups.group(i);
    const int32_t to = group_of[ImageOfCore(topology, image, group[0])];
    if (to < 0 || groups.group(to).size() != group.size()) return false;
    for (const int64_t core : group) {
      if (group_of[ImageOfCore(topology, image, core)] != to) return false;
    }
  }
  return true;
}

// The exchange of `groups` as transfers, each all that the cores of one chip that are in one group send.
class DirectTraffic {
 public:
  DirectTraffic(const CollectiveNetwork& network, const DeviceGroups& groups)
      : network_(network),
        topology_(network.topology),
        groups_(groups),
        group_of_(GroupOfCores(network.topology, groups)),
        router_(network.topology),
        weights_(network.topology.chips(), 0),
        traffic_(network.topology, Fold(network.topology, [&](absl::Span<const int32_t> image) {
                   return KeepsGroups(topology_, groups_, group_of_, image);
                 })) {}

  absl::StatusOr<Traffic> Make() {
    const double injection = network_.network.injection_bytes_per_second();
    const bool as_one = Shares() > kMostShares;
    for (int64_t i = 0; i < groups_.size(); ++i) {
      const absl::Span<const int64_t> group = groups_.group(i);
      std::map<int64_t, int64_t> members;  // Of each chip.
      for (const int64_t core : group) ++members[topology_.ChipOfCore(core)];
      const double g = static_cast<double>(group.size());
      std::vector<double> together(as_one ? topology_.link_ids() : 0, 0);
      for (const auto& [chip, count] : members) weights_[chip] = static_cast<double>(count) / g;
      double most_injected = 0, cores = 0;
      for (const auto& [chip, count] : members) {
        if (topology_folding().chip_count[chip] == 0) continue;
        links_.clear();
        RETURN_IF_ERROR(RouteFrom(chip, members));
        const double alike = static_cast<double>(count * topology_folding().chip_count[chip]);
        const double leaving = 1 - weights_[chip];
        if (as_one) {
          for (const LinkShare& l : links_) together[l.link] += l.share * alike;
          most_injected = std::max(most_injected, leaving);
          cores += alike;
        } else {
          traffic_.Add(1, alike, links_, leaving, injection);
        }
      }
      for (const auto& [chip, count] : members) weights_[chip] = 0;
      if (as_one && cores > 0) {
        links_.clear();
        for (int64_t link = 0; link < topology_.link_ids(); ++link) {
          if (together[link] > 0) links_.push_back({static_cast<int32_t>(link), together[link] / cores});
        }
        traffic_.Add(1, cores, links_, most_injected, injection);
      }
    }
    return std::move(traffic_);
  }

 private:
  const Folding& topology_folding() const { return traffic_.folding(); }

  // How many shares of links the flow problem would have, at most.
  int64_t Shares() const {
    double shares = 0;
    for (int64_t i = 0; i < groups_.size(); ++i) {
      const double reach = std::min(static_cast<double>(groups_.group(i).size()) * Diameter(),
                                    static_cast<double>(topology_.chips()));
      for (const int64_t core : groups_.group(i)) {
        if (topology_folding().chip_count[topology_.ChipOfCore(core)] > 0) shares += reach;
      }
    }
    return static_cast<int64_t>(std::min(shares, 9e18));
  }

  double Diameter() const {
    double hops = 0;
    for (const TopologyAxis& a : topology_.axes()) hops += static_cast<double>(a.size);
    return hops;
  }

  // A tree over all chips, or way by way where the group is small.
  absl::Status RouteFrom(int64_t chip, const std::map<int64_t, int64_t>& members) {
    if (static_cast<double>(members.size()) * Diameter() > static_cast<double>(topology_.chips())) {
      return router_.RouteToAll(chip, weights_, &links_);
    }
    for (const auto& [to, count] : members) {
      const size_t first = links_.size();
      RETURN_IF_ERROR(router_.Route(chip, to, &links_));
      for (size_t i = first; i < links_.size(); ++i) links_[i].share *= weights_[to];
    }
    return absl::OkStatus();
  }

  const CollectiveNetwork& network_;
  const Topology& topology_;
  const DeviceGroups& groups_;
  const std::vector<int32_t> group_of_;
  Router router_;
  std::vector<double> weights_;
  Traffic traffic_;
  std::vector<LinkShare> links_;
};

// Seconds of the longest way within a group.
double LongestLatency(const Topology& topology, const DeviceGroups& groups) {
  double longest = 0;
  for (int64_t i = 0; i < groups.size(); ++i) {
    // No two members are farther apart than their extremes along each axis allow.
    double latency = 0;
    for (int axis = 0; axis < static_cast<int>(topology.axes().size()); ++axis) {
      const TopologyAxis& a = topology.axes()[axis];
      int64_t low = a.size, high = -1;
      for (const int64_t core : groups.group(i)) {
        const int64_t c = topology.Coordinate(topology.ChipOfCore(core), axis);
        low = std::min(low, c);
        high = std::max(high, c);
      }
      if (low >= high) continue;
      const int64_t hops = a.switched ? 2 : a.far_wrap ? std::min(high - low, a.size / 2) : high - low;
      latency += a.hop_seconds * static_cast<double>(hops);
    }
    longest = std::max(longest, latency);
  }
  return longest;
}

// Adds the shapes around the groups, each once.
void AddShapes(const Topology& topology, const DeviceGroups& groups, std::vector<BoxShape>* shapes) {
  for (int64_t i = 0; i < groups.size(); ++i) {
    BoxShape shape = ShapeAround(topology, groups.group(i));
    const auto same = [&](const BoxShape& s) {
      return s.chips == shape.chips && s.far_wrap == shape.far_wrap;
    };
    if (!shape.chips.empty() && std::none_of(shapes->begin(), shapes->end(), same))
      shapes->push_back(std::move(shape));
  }
}

// Members of each group that differ along box axis `axis` alone, and along the cores of a chip if `all_places`.
DeviceGroups LinesOf(const DeviceGroups& groups, const Topology& topology, int axis, bool all_places) {
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> lines;
  for (int64_t i = 0; i < groups.size(); ++i) {
    for (const int64_t core : groups.group(i)) {
      const int64_t foot = topology.Along(topology.ChipOfCore(core), axis, 0);
      const int64_t place = all_places ? 0 : core % topology.cores_per_chip();
      lines[{i, foot * topology.cores_per_chip() + place}].push_back(core);
    }
  }
  DeviceGroups result;
  for (const auto& [key, line] : lines) result.Append(line);
  return result;
}

}  // namespace

absl::StatusOr<CollectivePlan> PlanDirectAllToAll(const CollectiveNetwork& network,
                                                  const DeviceGroups& groups) {
  CollectivePlan plan;
  plan.algorithm = "direct";
  plan.fixed_seconds = network.network.collective_cost_seconds() + LongestLatency(network.topology, groups);
  plan.pattern = "all-to-all";
  AddShapes(network.topology, groups, &plan.shapes);
  DirectTraffic direct(network, groups);
  ASSIGN_OR_RETURN(Traffic traffic, direct.Make());
  plan.phases.push_back(std::move(traffic));
  return plan;
}

absl::StatusOr<CollectivePlan> PlanAxesAllToAll(const CollectiveNetwork& network,
                                                const DeviceGroups& groups) {
  std::vector<bool> uses(network.topology.axes().size(), false);
  for (int64_t i = 0; i < groups.size(); ++i) {
    const std::optional<GroupBox> box = BoxOf(network.topology, groups.group(i));
    if (!box.has_value())
      return absl::FailedPreconditionError("exchanges along axes need groups that are boxes");
    for (const BoxAxis& a : box->axes) uses[a.axis] = true;
  }
  CollectivePlan plan;
  plan.algorithm = "axes";
  plan.pattern = "all-to-all";
  plan.fixed_seconds = network.network.collective_cost_seconds();
  bool first = true;
  for (int axis = 0; axis < static_cast<int>(uses.size()); ++axis) {
    if (!uses[axis]) continue;
    const DeviceGroups lines = LinesOf(groups, network.topology, axis, first);
    first = false;
    plan.fixed_seconds += LongestLatency(network.topology, lines);
    AddShapes(network.topology, lines, &plan.shapes);
    DirectTraffic direct(network, lines);
    ASSIGN_OR_RETURN(Traffic traffic, direct.Make());
    plan.phases.push_back(std::move(traffic));
  }
  return plan;
}

double MeshAllToAllSeconds(const NetworkSpec& network, int64_t n, bool torus, int64_t cores_per_chip,
                           Bytes payload) {
  const double bytes = static_cast<double>(n * cores_per_chip) * static_cast<double>(payload) / 4;
  return network.collective_cost_seconds() + bytes / (torus ? 2 : 1) / network.link_bytes_per_second();
}

}  // namespace toroid
