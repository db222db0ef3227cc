#include "simulator/cost/machine_cost_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "hlo/devices/replica_groups.h"
#include "simulator/machines/router_tables.h"

namespace toroid {
namespace {

// The devices that differ along `axes` alone, for each position along the other axes. The last ones of a group are
// neighbours along the minor-most axis of the list.
DeviceGroups GroupsAlong(const Mesh& mesh, const AxisList& axes) {
  const std::vector<int64_t> members = mesh.Positions(axes);
  const std::vector<int64_t> groups = mesh.Positions(mesh.InOrder(mesh.AllAxes() & ~axes.Set()));
  DeviceGroups all;
  std::vector<int64_t> devices(members.size());
  for (const int64_t group : groups) {
    for (size_t i = 0; i < members.size(); ++i) devices[i] = mesh.order().DeviceAt(group + members[i]);
    all.Append(devices);
  }
  return all;
}

double PermuteSeconds(CollectiveSimulator* simulator) {
  const std::pair<int64_t, int64_t> pairs[] = {{0, 1}, {1, 0}};
  if (simulator->core_of_device().size() < 2) return 0;
  const absl::StatusOr<CollectiveEstimate> estimate = simulator->EstimatePermute(1, pairs);
  return estimate.ok() ? SecondsOf(estimate->time) : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MachineCostModel>> MachineCostModel::Create(const Machine& machine) {
  std::vector<int64_t> cores(machine.cores());
  std::iota(cores.begin(), cores.end(), int64_t{0});
  ASSIGN_OR_RETURN(
      std::unique_ptr<CollectiveSimulator> simulator,
      CollectiveSimulator::Create(machine.family.network(), machine.slice, machine.family.cores_per_chip(),
                                  RouterTableOf(machine.family.network()), std::move(cores)));
  return std::unique_ptr<MachineCostModel>(new MachineCostModel(machine, std::move(simulator)));
}

MachineCostModel::MachineCostModel(const Machine& machine, std::unique_ptr<CollectiveSimulator> simulator)
    : core_(machine.family.core()),
      cores_(machine.cores()),
      link_bytes_per_second_(machine.family.network().link_bytes_per_second()),
      permute_seconds_(PermuteSeconds(simulator.get())),
      simulator_(std::move(simulator)) {}

double MachineCostModel::CollectiveTime(CollectiveKind kind, int64_t bytes, const Mesh& mesh,
                                        const AxisList& axes) const {
  if (bytes <= 0 || mesh.num_devices() < 2 || (kind != CollectiveKind::kPermute && axes.empty())) return 0;
  // Which devices belong together decides, not their order: rings go where they find links.
  const bool has_order = kind == CollectiveKind::kPermute || kind == CollectiveKind::kBroadcast;
  const AxisList group = has_order ? axes : mesh.InOrder(axes.Set());
  const auto [found, is_new] = known_.try_emplace(Key(kind, bytes, group), 0);
  if (is_new) found->second = Simulate(kind, bytes, mesh, group);
  return found->second;
}

double MachineCostModel::Simulate(CollectiveKind kind, int64_t bytes, const Mesh& mesh,
                                  const AxisList& axes) const {
  const double sent = static_cast<double>(SentBytes(kind, bytes, mesh.Product(axes)));
  if (mesh.num_devices() > cores_) return sent;
  // A permute without axes moves devices about: the order of the mesh itself.
  const DeviceGroups groups = GroupsAlong(mesh, axes.empty() ? mesh.InOrder(mesh.AllAxes()) : axes);
  absl::StatusOr<CollectiveEstimate> estimate;
  if (kind == CollectiveKind::kPermute) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (int64_t g = 0; g < groups.size(); ++g) {
      const absl::Span<const int64_t> group = groups.group(g);
      for (size_t i = 0; i < group.size(); ++i) pairs.push_back({group[i], group[(i + 1) % group.size()]});
    }
    estimate = simulator_->EstimatePermute(bytes, pairs);
  } else {
    estimate = simulator_->Estimate(kind, bytes, groups);
  }
  return estimate.ok() ? SecondsOf(estimate->time) * link_bytes_per_second_ : sent;
}

double MachineCostModel::PermuteDelay(int64_t count) const {
  return static_cast<double>(std::max<int64_t>(0, count - 1)) * permute_seconds_ * link_bytes_per_second_;
}

double MachineCostModel::MemoryTime(double bytes) const {
  const MemorySpec& memory = core_.memory();
  return bytes / (memory.bytes_per_second() * memory.stream_efficiency()) * link_bytes_per_second_;
}

std::optional<double> MachineCostModel::ContractionTime(double flops) const {
  const MatrixUnitSpec& matrix = core_.matrix();
  const double tile = static_cast<double>(matrix.tile());
  const double flops_per_cycle =
      2 * static_cast<double>(matrix.units()) * tile * tile / matrix.cycles_per_row();
  return flops / (flops_per_cycle * core_.clock_hertz()) * link_bytes_per_second_;
}

double MachineCostModel::OpTime(const Work& work) const {
  const VectorUnitSpec& vector = core_.vector();
  const double vector_rate = static_cast<double>(vector.slots()) * static_cast<double>(vector.lanes()) *
                             static_cast<double>(vector.sublanes()) * core_.clock_hertz();
  const double vector_ops =
      static_cast<double>(work.vector_flops) + static_cast<double>(work.transcendentals);
  return std::max(
      {*ContractionTime(static_cast<double>(work.matrix_flops)),
       vector_ops / vector_rate * link_bytes_per_second_,
       MemoryTime(static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written))});
}

}  // namespace toroid
