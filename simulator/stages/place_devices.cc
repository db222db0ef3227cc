#include "simulator/stages/place_devices.h"

#include <memory>
#include <utility>

#include "hlo/analysis/collective.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "hlo/devices/replica_groups.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/machines/router_tables.h"
#include "simulator/network/device_assignment.h"
#include "simulator/network/topology.h"
#include "simulator/prediction/collective_times.h"
#include "simulator/stages/program_devices.h"

namespace toroid {
namespace {

struct Exchange {
  const Instruction* instruction;
  double executions;
};

std::vector<Exchange> ExchangesOf(const Module& module, const DeviceCounts& counts) {
  const std::vector<Executions> executions = CountExecutions(module);
  std::vector<Exchange> exchanges;
  for (const auto& computation : module.computations()) {
    const auto times = static_cast<double>(executions[computation->index()].times);
    if (times == 0) continue;
    for (const auto& instruction : computation->instructions()) {
      if (CollectiveOf(*instruction, counts).has_value()) exchanges.push_back({instruction.get(), times});
    }
  }
  return exchanges;
}

// Groups of all collectives that have groups; those that contradict themselves are reported when they are simulated.
std::vector<DeviceGroups> GroupsOf(const std::vector<Exchange>& exchanges, const DeviceCounts& counts) {
  std::vector<DeviceGroups> groups;
  for (const Exchange& exchange : exchanges) {
    if (CollectiveOf(*exchange.instruction, counts)->kind == CollectiveKind::kPermute) continue;
    absl::StatusOr<DeviceGroups> own =
        ExpandDeviceGroups(*exchange.instruction, counts.replicas.value_or(1), counts.partitions.value_or(1));
    if (own.ok()) groups.push_back(*std::move(own));
  }
  return groups;
}

absl::StatusOr<double> SecondsOfAll(const std::vector<Exchange>& exchanges, const DeviceCounts& counts,
                                    const Machine& machine, const std::vector<int64_t>& core_of_device) {
  ASSIGN_OR_RETURN(
      const std::unique_ptr<CollectiveSimulator> simulator,
      CollectiveSimulator::Create(machine.family.network(), machine.slice, machine.family.cores_per_chip(),
                                  RouterTableOf(machine.family.network()), core_of_device));
  CollectiveTimes times(simulator.get(), counts);
  double seconds = 0;
  for (const Exchange& exchange : exchanges) {
    ASSIGN_OR_RETURN(const CollectiveTime* time, times.Of(*exchange.instruction));
    if (time != nullptr) seconds += exchange.executions * SecondsOf(time->estimate.time);
  }
  return seconds;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> PlaceDevices(const std::string& method, const Module& module,
                                                  const Machine& machine) {
  const DeviceCounts counts = DeviceCountsOf(module);
  const int64_t devices = DevicesOf(counts);
  ASSIGN_OR_RETURN(const Topology topology, Topology::Create(machine.family.network(), machine.slice,
                                                             machine.family.cores_per_chip()));
  if (method == "row-major") return RowMajorAssignment(topology, devices);
  if (method != "topology" && method != "best") {
    ASSIGN_OR_RETURN(const std::string text, ReadInput(method));
    return ParseAssignment(topology, devices, text, method);
  }
  const std::vector<Exchange> exchanges = ExchangesOf(module, counts);
  const std::vector<int64_t> mesh = MeshOfGroups(devices, GroupsOf(exchanges, counts));
  if (method == "topology") {
    // A line for one axis may cost another one more than it saves, and neighbours may be all that exchange.
    ASSIGN_OR_RETURN(std::vector<int64_t> best, TopologyAwareAssignment(topology, mesh));
    ASSIGN_OR_RETURN(double least, SecondsOfAll(exchanges, counts, machine, best));
    for (const auto assign : {RowMajorAssignment, SnakeAssignment}) {
      ASSIGN_OR_RETURN(std::vector<int64_t> other, assign(topology, devices));
      ASSIGN_OR_RETURN(const double seconds, SecondsOfAll(exchanges, counts, machine, other));
      if (seconds < least) least = seconds, best = std::move(other);
    }
    return best;
  }
  return BestAssignment(topology, mesh, [&](const std::vector<int64_t>& core_of_device) {
    return SecondsOfAll(exchanges, counts, machine, core_of_device);
  });
}

}  // namespace toroid
