#include "simulator/stages/place_devices.h"

#include <algorithm>
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
#include "simulator/collectives/slice_groups.h"
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

// Every slice as `first`, which has a place for each of its cores.
std::vector<int64_t> InEverySlice(const std::vector<int64_t>& first, int64_t devices) {
  const int64_t cores = static_cast<int64_t>(first.size());
  std::vector<int64_t> all(devices);
  for (int64_t d = 0; d < devices; ++d) all[d] = d / cores * cores + first[d % cores];
  return all;
}

// Those of several slices in one that they fill.
std::vector<DeviceGroups> WithinSlice(const std::vector<DeviceGroups>& groups, int64_t cores) {
  std::vector<DeviceGroups> within;
  for (const DeviceGroups& some : groups) {
    SliceGroups split = SplitBySlice(some, cores, cores);
    if (!split.within.empty()) within.push_back(std::move(split.within.front()));
  }
  return within;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> PlaceDevices(const std::string& method, const Module& module,
                                                  const Machine& machine) {
  const DeviceCounts counts = DeviceCountsOf(module);
  const int64_t devices = DevicesOf(counts);
  ASSIGN_OR_RETURN(const Topology topology, Topology::Create(machine.family.network(), machine.slice,
                                                             machine.family.cores_per_chip()));
  RETURN_IF_ERROR(CheckHasCores(machine, devices));
  if (method != "topology" && method != "best" && method != "row-major") {
    ASSIGN_OR_RETURN(const std::string text, ReadInput(method));
    return ParseAssignment(machine.cores(), devices, text, method);
  }
  // Slices are filled one after the other, all alike.
  const int64_t in_slice = std::min(devices, topology.cores());
  ASSIGN_OR_RETURN(std::vector<int64_t> row_major, RowMajorAssignment(topology, in_slice));
  if (method == "row-major") return InEverySlice(row_major, devices);
  const std::vector<Exchange> exchanges = ExchangesOf(module, counts);
  std::vector<DeviceGroups> groups = GroupsOf(exchanges, counts);
  if (devices > in_slice) groups = WithinSlice(groups, in_slice);
  const std::vector<int64_t> mesh = MeshOfGroups(in_slice, groups);
  const auto seconds_of = [&](const std::vector<int64_t>& core_of_device) {
    return SecondsOfAll(exchanges, counts, machine, InEverySlice(core_of_device, devices));
  };
  if (method == "best") {
    ASSIGN_OR_RETURN(const std::vector<int64_t> best, BestAssignment(topology, mesh, seconds_of));
    return InEverySlice(best, devices);
  }
  // A line for one axis may cost another one more than it saves, and neighbours may be all that exchange.
  ASSIGN_OR_RETURN(std::vector<int64_t> best, TopologyAwareAssignment(topology, mesh));
  ASSIGN_OR_RETURN(double least, seconds_of(best));
  ASSIGN_OR_RETURN(std::vector<int64_t> snake, SnakeAssignment(topology, in_slice));
  for (std::vector<int64_t>& other : std::vector<std::vector<int64_t>>{row_major, snake}) {
    ASSIGN_OR_RETURN(const double seconds, seconds_of(other));
    if (seconds < least) least = seconds, best = std::move(other);
  }
  return InEverySlice(best, devices);
}

}  // namespace toroid
