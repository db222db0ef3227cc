#include "simulator/collectives/packet_efficiency.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "simulator/collectives/all_to_all.h"
#include "simulator/collectives/direct_permute.h"
#include "simulator/network/packet_simulation.h"
#include "simulator/network/remote_writes.h"

namespace toroid {
namespace {

double FlowSeconds(const CollectivePlan& plan) {
  double seconds = 0;
  for (const Traffic& phase : plan.phases) seconds += SimulateFlows(phase.flows()).seconds;
  return seconds;
}

// Each core to another one: one cycle through all, in an order drawn by chance.
std::vector<std::pair<int64_t, int64_t>> DrawnPermute(int64_t cores, int draw) {
  std::vector<int64_t> order(cores);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(draw);
  for (int64_t i = cores - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < cores; ++i) pairs.push_back({order[i], order[(i + 1) % cores]});
  return pairs;
}

}  // namespace

int DrawsOf(int64_t cores) { return cores <= 128 ? 4 : cores <= 512 ? 2 : 1; }

absl::StatusOr<RouterEfficiencyTable::Row> ComputeRouterEfficiency(const NetworkSpec& network,
                                                                   RouterEfficiencyTable::Row row) {
  SliceSpec slice;
  slice.set_name(row.pattern());
  *slice.mutable_chips() = row.chips();
  *slice.mutable_wrap() = row.far_wrap();
  ASSIGN_OR_RETURN(const Topology topology, Topology::Create(network, slice, row.cores_per_chip()));
  const bool all_to_all = row.pattern() == "all-to-all";
  if (!all_to_all && row.pattern() != "permute") {
    return absl::InvalidArgumentError(absl::StrCat("no pattern is named \"", row.pattern(), "\""));
  }
  const double bytes = static_cast<double>(row.bytes_per_core());
  const int draws = DrawsOf(topology.cores());
  double flow_seconds = 0, packet_seconds = 0;
  for (int draw = 0; draw < draws; ++draw) {
    WritesOfCore writes;
    if (all_to_all) {
      writes = AllToAllWrites(topology, network.router(), row.bytes_per_core(), draw);
      if (draw == 0) {
        std::vector<int64_t> cores(topology.cores());
        std::iota(cores.begin(), cores.end(), 0);
        DeviceGroups groups;
        groups.Append(cores);
        ASSIGN_OR_RETURN(const CollectivePlan plan, PlanDirectAllToAll({topology, network}, groups));
        flow_seconds = bytes * FlowSeconds(plan) * draws;
      }
    } else {
      const std::vector<std::pair<int64_t, int64_t>> pairs = DrawnPermute(topology.cores(), draw);
      writes = PermuteWrites(topology, network.router(), pairs, row.bytes_per_core());
      ASSIGN_OR_RETURN(const CollectivePlan plan, PlanDirectPermute({topology, network}, pairs));
      flow_seconds += bytes * FlowSeconds(plan);
    }
    ASSIGN_OR_RETURN(const PacketResult result, SimulatePackets(topology, network.router(), writes, draw));
    packet_seconds += SecondsOf(result.time);
  }
  row.set_efficiency(packet_seconds > 0 ? std::min(1.0, flow_seconds / packet_seconds) : 1);
  return row;
}

}  // namespace toroid
