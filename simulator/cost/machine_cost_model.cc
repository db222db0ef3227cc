#include "simulator/cost/machine_cost_model.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "simulator/machines/router_tables.h"
#include "hlo/ir/replica_groups.h"

namespace toroid {

absl::StatusOr<std::unique_ptr<MachineCostModel>> MachineCostModel::Create(const Machine& machine, int64_t devices) {
  if (devices > machine.cores()) {
    return absl::InvalidArgumentError(absl::StrCat("the program is for ", devices, " devices, and ", machine.slice.name(),
                                                   " has ", machine.cores(), " cores"));
  }
  std::vector<int64_t> cores(devices);
  std::iota(cores.begin(), cores.end(), int64_t{0});
  ASSIGN_OR_RETURN(std::unique_ptr<CollectiveSimulator> simulator,
                   CollectiveSimulator::Create(machine.family.network(), machine.slice, machine.family.cores_per_chip(),
                                               RouterTableOf(machine.family.network()), std::move(cores)));
  return std::unique_ptr<MachineCostModel>(new MachineCostModel(machine, devices, std::move(simulator)));
}

MachineCostModel::MachineCostModel(const Machine& machine, int64_t devices,
                                   std::unique_ptr<CollectiveSimulator> simulator)
    : core_(machine.family.core()), devices_(devices),
      link_bytes_per_second_(machine.family.network().link_bytes_per_second()), simulator_(std::move(simulator)) {}

double MachineCostModel::CollectiveTime(CollectiveKind kind, int64_t bytes, int64_t group) const {
  const bool is_permute = kind == CollectiveKind::kPermute;
  if (bytes <= 0 || devices_ < 2 || (!is_permute && group < 2)) return 0;
  const auto [found, is_new] = known_.try_emplace(std::make_tuple(kind, bytes, is_permute ? 0 : group), 0);
  if (is_new) found->second = Simulate(kind, bytes, group);
  return found->second;
}

double MachineCostModel::Simulate(CollectiveKind kind, int64_t bytes, int64_t group) const {
  absl::StatusOr<CollectiveEstimate> estimate;
  if (kind == CollectiveKind::kPermute) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (int64_t d = 0; d < devices_; ++d) pairs.push_back({d, (d + 1) % devices_});
    estimate = simulator_->EstimatePermute(bytes, pairs);
  } else {
    DeviceGroups groups;
    const int64_t members = std::min(group, devices_);
    for (int64_t first = 0; first + members <= devices_; first += members) {
      std::vector<int64_t> devices(members);
      std::iota(devices.begin(), devices.end(), first);
      groups.Append(devices);
    }
    estimate = simulator_->Estimate(kind, bytes, groups);
  }
  // Where no way is left, what is sent is all that tells plans apart.
  if (!estimate.ok()) return static_cast<double>(SentBytes(kind, bytes, group));
  return SecondsOf(estimate->time) * link_bytes_per_second_;
}

double MachineCostModel::PermuteDelay(int64_t count) const {
  return static_cast<double>(std::max<int64_t>(0, count - 1)) * CollectiveTime(CollectiveKind::kPermute, 1, 1);
}

double MachineCostModel::MemoryTime(double bytes) const {
  return bytes / core_.memory().bytes_per_second() * link_bytes_per_second_;
}

double MachineCostModel::OpTime(const Work& work) const {
  const double tile = static_cast<double>(core_.matrix().tile());
  const double matrix_rate = 2 * static_cast<double>(core_.matrix().units()) * tile * tile * core_.clock_hertz();
  const double vector_rate = static_cast<double>(core_.vector().slots()) * static_cast<double>(core_.vector().lanes()) *
                             static_cast<double>(core_.vector().sublanes()) * core_.clock_hertz();
  const double seconds =
      std::max({static_cast<double>(work.matrix_flops) / matrix_rate,
                (static_cast<double>(work.vector_flops) + static_cast<double>(work.transcendentals)) / vector_rate,
                (static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written)) /
                    core_.memory().bytes_per_second()});
  return seconds * link_bytes_per_second_;
}

}  // namespace toroid
