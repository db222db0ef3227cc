#include "simulator/collectives/collective_simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "simulator/collectives/all_to_all.h"
#include "simulator/collectives/axis_rings.h"
#include "simulator/collectives/direct_permute.h"
#include "simulator/collectives/one_ring.h"

namespace toroid {
namespace {

absl::Status CheckName(absl::string_view value, std::vector<absl::string_view> names,
                       absl::string_view field) {
  if (value.empty() || std::find(names.begin(), names.end(), value) != names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("algorithms.", field, " is \"", value, "\"; use one of ", absl::StrJoin(names, ", ")));
}

absl::Status CheckAlgorithms(const AlgorithmSpec& algorithms) {
  RETURN_IF_ERROR(CheckName(algorithms.all_reduce(), {"axes", "ring"}, "all_reduce"));
  RETURN_IF_ERROR(CheckName(algorithms.all_gather(), {"axes", "ring"}, "all_gather"));
  RETURN_IF_ERROR(CheckName(algorithms.reduce_scatter(), {"axes", "ring", "all-reduce"}, "reduce_scatter"));
  RETURN_IF_ERROR(CheckName(algorithms.all_to_all(), {"direct", "axes"}, "all_to_all"));
  RETURN_IF_ERROR(CheckName(algorithms.first_axis(), {"short", "long"}, "first_axis"));
  return absl::OkStatus();
}

absl::Status CheckCosts(const NetworkSpec& network) {
  const std::pair<const char*, double> costs[] = {
      {"collective_cost_seconds", network.collective_cost_seconds()},
      {"step_cost_seconds", network.step_cost_seconds()},
      {"local_pass_seconds_per_byte", network.local_pass_seconds_per_byte()}};
  for (const auto& [field, value] : costs) {
    if (std::isfinite(value) && value >= 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("network.", field, " is ", value, "; a cost is 0 or more"));
  }
  const double injection = network.injection_bytes_per_second();
  if (injection > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("network.injection_bytes_per_second is ", injection, "; a rate is more than 0"));
}

// By value, so that equal groups have equal keys.
std::string Key(absl::string_view what, absl::Span<const int64_t> numbers) {
  std::string key(what);
  key.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
  return key;
}

std::string Key(absl::string_view what, const DeviceGroups& groups) {
  std::string key = Key(absl::StrCat(what, " ", groups.size(), " "), groups.members());
  for (int64_t i = 0; i < groups.size(); ++i) absl::StrAppend(&key, " ", groups.group(i).size());
  return key;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CollectiveSimulator>> CollectiveSimulator::Create(
    const NetworkSpec& network, const SliceSpec& slice, int64_t cores_per_chip,
    const RouterEfficiencyTable& efficiency, std::vector<int64_t> core_of_device) {
  ASSIGN_OR_RETURN(Topology topology, Topology::Create(network, slice, cores_per_chip));
  ASSIGN_OR_RETURN(RouterEfficiency by_pattern, RouterEfficiency::Create(efficiency));
  AlgorithmSpec algorithms = network.algorithms();
  algorithms.MergeFrom(slice.algorithms());
  RETURN_IF_ERROR(CheckAlgorithms(algorithms));
  RETURN_IF_ERROR(CheckCosts(network));
  const int64_t copies = std::max<int64_t>(1, slice.copies());
  if (copies > 1 && !network.has_data_centre()) {
    return absl::InvalidArgumentError(
        absl::StrCat(slice.name(), " is ", copies, " slices, and no network.data_centre joins them"));
  }
  const int64_t cores = SaturatingMultiply(topology.cores(), copies);
  if (cores > Topology::kMostCores) {
    return absl::InvalidArgumentError(absl::StrCat(slice.name(), " has ", cores, " cores; at most ",
                                                   Topology::kMostCores, " are simulated"));
  }
  std::vector<bool> taken(cores, false);
  for (size_t d = 0; d < core_of_device.size(); ++d) {
    const int64_t core = core_of_device[d];
    if (core < 0 || core >= cores) {
      return absl::InvalidArgumentError(absl::StrCat("device ", d, " is assigned to core ", core, "; slice ",
                                                     slice.name(), " has ", cores, " cores"));
    }
    if (taken[core])
      return absl::InvalidArgumentError(absl::StrCat("core ", core, " is assigned to two devices"));
    taken[core] = true;
  }
  return std::unique_ptr<CollectiveSimulator>(new CollectiveSimulator(
      network, algorithms, std::move(topology), std::move(by_pattern), std::move(core_of_device), copies));
}

CollectiveSimulator::CollectiveSimulator(const NetworkSpec& network, const AlgorithmSpec& algorithms,
                                         Topology topology, RouterEfficiency efficiency,
                                         std::vector<int64_t> core_of_device, int64_t copies)
    : network_(network),
      algorithms_(algorithms),
      topology_(std::move(topology)),
      efficiency_(std::move(efficiency)),
      core_of_device_(std::move(core_of_device)),
      copies_(copies),
      live_links_(topology_.LiveLinks()) {}

absl::StatusOr<DeviceGroups> CollectiveSimulator::CoresOf(const DeviceGroups& groups) const {
  DeviceGroups cores;
  std::vector<bool> seen(core_of_device_.size(), false);
  std::vector<int64_t> members;
  for (int64_t i = 0; i < groups.size(); ++i) {
    members.clear();
    for (const int64_t device : groups.group(i)) {
      if (device < 0 || device >= static_cast<int64_t>(core_of_device_.size())) {
        return absl::InvalidArgumentError(
            absl::StrCat("group ", i, " has device ", device, " of ", core_of_device_.size()));
      }
      if (seen[device])
        return absl::InvalidArgumentError(absl::StrCat("device ", device, " is in two groups"));
      seen[device] = true;
      members.push_back(core_of_device_[device]);
    }
    if (members.size() > 1) cores.Append(members);
  }
  return cores;
}

absl::StatusOr<std::vector<CollectivePlan>> CollectiveSimulator::RingPlans(absl::string_view algorithm,
                                                                           int passes,
                                                                           const DeviceGroups& cores) const {
  const CollectiveNetwork network = {topology_, network_};
  std::vector<CollectivePlan> plans;
  const std::optional<GroupBox> box = BoxOf(topology_, cores.group(0));
  if (algorithm != "ring" && box.has_value()) {
    for (const ColorChoice& choice : ColorChoices(*box, algorithms_)) {
      absl::StatusOr<CollectivePlan> plan =
          PlanAxisRings(network, cores, passes == 2 ? RingPasses::kTwo : RingPasses::kOne, choice);
      if (absl::IsFailedPrecondition(plan.status())) break;  // Other groups have other shapes.
      if (!plan.ok()) return plan.status();
      plans.push_back(*std::move(plan));
    }
  }
  if (algorithm == "axes" && !plans.empty()) return plans;
  ASSIGN_OR_RETURN(CollectivePlan ring,
                   PlanOneRing(network, cores, passes == 2 ? RingUse::kTwoPasses : RingUse::kOnePass));
  plans.push_back(std::move(ring));
  return plans;
}

absl::StatusOr<std::vector<CollectivePlan>> CollectiveSimulator::PlansOf(CollectiveKind kind,
                                                                         const DeviceGroups& cores) const {
  const CollectiveNetwork network = {topology_, network_};
  std::vector<CollectivePlan> plans;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return RingPlans(algorithms_.all_reduce(), 2, cores);
    case CollectiveKind::kAllGather:
      return RingPlans(algorithms_.all_gather(), 1, cores);
    case CollectiveKind::kReduceScatter:
      if (algorithms_.reduce_scatter() == "all-reduce") return RingPlans(algorithms_.all_reduce(), 2, cores);
      return RingPlans(algorithms_.reduce_scatter(), 1, cores);
    case CollectiveKind::kAllToAll: {
      if (algorithms_.all_to_all() != "direct") {
        absl::StatusOr<CollectivePlan> axes = PlanAxesAllToAll(network, cores);
        if (!axes.ok() && !absl::IsFailedPrecondition(axes.status())) return axes.status();
        if (axes.ok()) plans.push_back(*std::move(axes));
      }
      if (algorithms_.all_to_all() == "axes" && !plans.empty()) return plans;
      ASSIGN_OR_RETURN(CollectivePlan direct, PlanDirectAllToAll(network, cores));
      plans.push_back(std::move(direct));
      return plans;
    }
    case CollectiveKind::kBroadcast: {
      ASSIGN_OR_RETURN(CollectivePlan ring, PlanOneRing(network, cores, RingUse::kBroadcast));
      plans.push_back(std::move(ring));
      return plans;
    }
    case CollectiveKind::kPermute:
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat(CollectiveKindName(kind), " has no groups"));
}

CollectiveSimulator::Simulated CollectiveSimulator::Simulate(const CollectivePlan& plan) const {
  Simulated simulated;
  simulated.algorithm = plan.algorithm;
  simulated.fixed_seconds = plan.fixed_seconds;
  simulated.seconds_per_byte = plan.pass_seconds_per_byte;
  simulated.pattern = plan.pattern;
  simulated.shapes = plan.shapes;
  std::vector<double> link_bytes(topology_.link_ids(), 0);
  for (const Traffic& phase : plan.phases) {
    const FlowResult result = SimulateFlows(phase.flows());
    simulated.flow_seconds_per_byte += result.seconds;
    phase.AddLinkBytes(result, &link_bytes);
  }
  double sum = 0;
  for (int64_t link = 0; link < topology_.link_ids(); ++link) {
    if (link_bytes[link] == 0) continue;
    const double seconds = link_bytes[link] / topology_.LinkRate(link);
    sum += seconds;
    // Links that differ by rounding alone are equally busy: the first is named.
    if (seconds > simulated.busiest_seconds_per_byte * (1 + 1e-9)) {
      simulated.busiest_seconds_per_byte = seconds;
      simulated.busiest_link = link;
    }
  }
  if (live_links_ > 0) simulated.mean_seconds_per_byte = sum / static_cast<double>(live_links_);
  if (sum > 0) simulated.link_bytes = std::make_shared<const std::vector<double>>(std::move(link_bytes));
  return simulated;
}

double CollectiveSimulator::Seconds(const Simulated& simulated, double payload) const {
  double efficiency = 1;
  for (const BoxShape& shape : simulated.shapes) {
    const Bytes bytes = static_cast<Bytes>(std::min(payload, 9e18));
    efficiency = std::min(efficiency, efficiency_.Find(simulated.pattern, shape, bytes));
  }
  return simulated.fixed_seconds +
         payload * (simulated.seconds_per_byte + simulated.flow_seconds_per_byte / efficiency);
}

CollectiveEstimate CollectiveSimulator::Fastest(const Candidates& candidates, double payload) const {
  double least = std::numeric_limits<double>::infinity();
  const Simulated* fastest = nullptr;
  for (const Simulated& candidate : candidates) {
    const double seconds = Seconds(candidate, payload);
    if (seconds < least) least = seconds, fastest = &candidate;
  }
  CollectiveEstimate estimate;
  estimate.time = PicosecondsOf(least);
  estimate.algorithm = fastest->algorithm;
  estimate.payload = payload;
  estimate.link_bytes_per_byte = fastest->link_bytes;
  estimate.busiest_link = fastest->busiest_link;
  if (least > 0) {
    estimate.max_utilization = payload * fastest->busiest_seconds_per_byte / least;
    estimate.mean_utilization = payload * fastest->mean_seconds_per_byte / least;
  }
  return estimate;
}

int64_t CollectiveSimulator::cores_per_host() const {
  return network_.data_centre().chips_per_host() * topology_.cores_per_chip();
}

absl::StatusOr<CollectiveSimulator::Known> CollectiveSimulator::Learn(CollectiveKind kind,
                                                                      const DeviceGroups& cores) const {
  SliceGroups split;
  if (copies_ > 1) {
    split = SplitBySlice(cores, topology_.cores(), cores_per_host());
  } else if (cores.size() > 0) {
    split.within.push_back(cores);
  }
  Known known;
  known.spread = {split.slices, split.members, split.host_cores};
  for (const DeviceGroups& groups : split.within) {
    ASSIGN_OR_RETURN(const std::vector<CollectivePlan> plans, PlansOf(kind, groups));
    Candidates& candidates = known.within.emplace_back();
    for (const CollectivePlan& plan : plans) candidates.push_back(Simulate(plan));
  }
  return known;
}

absl::StatusOr<CollectiveSimulator::Known> CollectiveSimulator::LearnPermute(
    absl::Span<const std::pair<int64_t, int64_t>> cores) const {
  SlicePairs split;
  if (copies_ > 1) {
    split = SplitBySlice(cores, topology_.cores(), cores_per_host());
  } else if (!cores.empty()) {
    split.within.emplace_back(cores.begin(), cores.end());
  }
  Known known;
  known.spread = {split.host_cores > 0 ? 2 : 1, 1, split.host_cores};
  for (const auto& pairs : split.within) {
    ASSIGN_OR_RETURN(const CollectivePlan plan, PlanDirectPermute({topology_, network_}, pairs));
    known.within.push_back({Simulate(plan)});
  }
  return known;
}

CollectiveEstimate CollectiveSimulator::EstimateOf(const Known& known, CollectiveKind kind,
                                                   double payload) const {
  CollectiveEstimate slowest;
  slowest.algorithm = "none";
  slowest.payload = payload;
  for (const Candidates& candidates : known.within) {
    CollectiveEstimate estimate = Fastest(candidates, payload);
    if (slowest.link_bytes_per_byte == nullptr || estimate.time > slowest.time) slowest = std::move(estimate);
  }
  if (known.spread.slices < 2) return slowest;
  const BetweenSlicesTime between = TimeBetweenSlices(network_.data_centre(), kind, payload, known.spread);
  const double start = known.within.empty() ? network_.collective_cost_seconds() : 0;
  slowest.between_slices = PicosecondsOf(between.seconds + start);
  slowest.between_slices_roofline = PicosecondsOf(between.roofline_seconds);
  const double within = static_cast<double>(slowest.time);
  // Messages between slices pass beside those within, all else one after the other.
  slowest.time = kind == CollectiveKind::kPermute ? std::max(slowest.time, slowest.between_slices)
                                                  : slowest.time + slowest.between_slices;
  const double part = within / static_cast<double>(slowest.time);
  slowest.max_utilization *= part, slowest.mean_utilization *= part;
  const std::string over = absl::StrCat(known.spread.slices, " slices");
  slowest.algorithm = known.within.empty() ? over : absl::StrCat(slowest.algorithm, ", ", over);
  return slowest;
}

absl::StatusOr<CollectiveEstimate> CollectiveSimulator::Estimate(CollectiveKind kind, Bytes bytes,
                                                                 const DeviceGroups& groups) {
  if (bytes < 0) return absl::InvalidArgumentError(absl::StrCat("a collective of ", bytes, " bytes"));
  double payload = static_cast<double>(bytes);
  if (kind == CollectiveKind::kAllGather) {
    size_t largest = 1;
    for (int64_t i = 0; i < groups.size(); ++i) largest = std::max(largest, groups.group(i).size());
    payload *= static_cast<double>(largest);
  }
  const std::string key = Key(CollectiveKindName(kind), groups);
  auto known = known_.find(key);
  if (known == known_.end()) {
    ASSIGN_OR_RETURN(const DeviceGroups cores, CoresOf(groups));
    ASSIGN_OR_RETURN(Known learned, Learn(kind, cores));
    known = known_.emplace(key, std::move(learned)).first;
  }
  return EstimateOf(known->second, kind, payload);
}

absl::StatusOr<CollectiveEstimate> CollectiveSimulator::EstimatePermute(
    Bytes bytes, absl::Span<const std::pair<int64_t, int64_t>> pairs) {
  if (bytes < 0) return absl::InvalidArgumentError(absl::StrCat("a collective of ", bytes, " bytes"));
  std::vector<int64_t> ends;
  for (const auto& [from, to] : pairs) ends.insert(ends.end(), {from, to});
  const std::string key = Key("permute ", ends);
  auto known = known_.find(key);
  if (known == known_.end()) {
    const int64_t devices = static_cast<int64_t>(core_of_device_.size());
    std::vector<bool> sends(devices, false), receives(devices, false);
    std::vector<std::pair<int64_t, int64_t>> cores;
    for (const auto& [from, to] : pairs) {
      if (std::min(from, to) < 0 || std::max(from, to) >= devices) {
        return absl::InvalidArgumentError(
            absl::StrCat("pair {", from, ",", to, "} of ", devices, " devices"));
      }
      if (sends[from] || receives[to]) {
        return absl::InvalidArgumentError(
            absl::StrCat("pair {", from, ",", to, "}: source or target occurs twice"));
      }
      sends[from] = receives[to] = true;
      if (from != to) cores.push_back({core_of_device_[from], core_of_device_[to]});
    }
    ASSIGN_OR_RETURN(Known learned, LearnPermute(cores));
    known = known_.emplace(key, std::move(learned)).first;
  }
  return EstimateOf(known->second, CollectiveKind::kPermute, static_cast<double>(bytes));
}

}  // namespace toroid
