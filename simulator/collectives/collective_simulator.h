// How long a collective takes on a slice, by which algorithm, and what it puts on each link.
//
// The algorithm is the one that the machine's file names for the slice, where the groups allow it, else the one that
// takes least time. Groups run at the same time and share links. What has been worked out for groups is kept: the next
// collective over the same groups, of any size, costs a look-up.
// Of several slices (SliceSpec::copies) each does its part by such an algorithm, and what is left passes between them
// (between_slices.h).
//   CollectiveSimulator::Create(machine.family.network(), machine.slice, 2, efficiency, RowMajorAssignment(128))
//   simulator->Estimate(CollectiveKind::kAllToAll, 8 << 20, groups) -> 700 us, "direct", busiest link 0.6 of its rate
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/analysis/collective.h"
#include "hlo/base/units.h"
#include "hlo/devices/replica_groups.h"
#include "simulator/collectives/between_slices.h"
#include "simulator/collectives/slice_groups.h"
#include "simulator/collectives/traffic.h"
#include "simulator/machines/network.pb.h"
#include "simulator/network/router_efficiency.h"
#include "simulator/network/topology.h"

namespace toroid {

struct CollectiveEstimate {
  Picoseconds time = 0;
  std::string algorithm;  // "none" where nobody has anything to send.
  // Part of its rate that a link carried over `time`: of the busiest link, and over all links that live.
  double max_utilization = 0, mean_utilization = 0;
  int64_t busiest_link = -1;
  // Bytes on link l: (*link_bytes_per_byte)[l] * payload. By link id of the topology; null: none anywhere.
  std::shared_ptr<const std::vector<double>> link_bytes_per_byte;
  double payload = 0;
  // Of `time`, between slices; and that at the rate of the data-centre network, without steps.
  Picoseconds between_slices = 0, between_slices_roofline = 0;

  double LinkBytes(int64_t link) const {
    return link_bytes_per_byte == nullptr ? 0 : (*link_bytes_per_byte)[link] * payload;
  }
};

class CollectiveSimulator {
 public:
  // `core_of_device[d]` is the core on which device (partition) d runs; those of the second slice follow the first one's.
  // Errors: kInvalidArgument: those of Topology::Create and RouterEfficiency::Create; costs that are negative, rates that
  // are not positive; an algorithm that does not exist; cores out of range or given twice.
  static absl::StatusOr<std::unique_ptr<CollectiveSimulator>> Create(const NetworkSpec& network,
                                                                     const SliceSpec& slice,
                                                                     int64_t cores_per_chip,
                                                                     const RouterEfficiencyTable& efficiency,
                                                                     std::vector<int64_t> core_of_device);

  // `bytes` is what each device has at the beginning (of an all-gather, its shard). Groups without devices: nothing.
  // Errors: kInvalidArgument for devices out of range or in two groups, negative bytes, or a kind that has pairs
  // instead of groups; kUnavailable if dead links leave no way.
  absl::StatusOr<CollectiveEstimate> Estimate(CollectiveKind kind, Bytes bytes, const DeviceGroups& groups);
  // Errors: kInvalidArgument for devices out of range, or that are a source or a target twice; kUnavailable likewise.
  absl::StatusOr<CollectiveEstimate> EstimatePermute(Bytes bytes,
                                                     absl::Span<const std::pair<int64_t, int64_t>> pairs);

  // Of one slice.
  const Topology& topology() const { return topology_; }
  const std::vector<int64_t>& core_of_device() const { return core_of_device_; }

 private:
  // A plan whose flows have been simulated, for one byte of payload.
  struct Simulated {
    std::string algorithm;
    double fixed_seconds = 0, seconds_per_byte = 0, flow_seconds_per_byte = 0;
    std::string pattern;
    std::vector<BoxShape> shapes;
    std::shared_ptr<const std::vector<double>> link_bytes;
    int64_t busiest_link = -1;
    double busiest_seconds_per_byte = 0, mean_seconds_per_byte = 0;  // That links are in use.
  };
  using Candidates = std::vector<Simulated>;
  // What was worked out for groups.
  struct Known {
    std::vector<Candidates> within;  // Of slices that differ.
    SliceSpread spread;
  };

  CollectiveSimulator(const NetworkSpec& network, const AlgorithmSpec& algorithms, Topology topology,
                      RouterEfficiency efficiency, std::vector<int64_t> core_of_device, int64_t copies);

  absl::StatusOr<DeviceGroups> CoresOf(const DeviceGroups& groups) const;
  absl::StatusOr<std::vector<CollectivePlan>> PlansOf(CollectiveKind kind, const DeviceGroups& cores) const;
  absl::StatusOr<std::vector<CollectivePlan>> RingPlans(absl::string_view algorithm, int passes,
                                                        const DeviceGroups& cores) const;
  absl::StatusOr<Known> Learn(CollectiveKind kind, const DeviceGroups& cores) const;
  absl::StatusOr<Known> LearnPermute(absl::Span<const std::pair<int64_t, int64_t>> cores) const;
  CollectiveEstimate EstimateOf(const Known& known, CollectiveKind kind, double payload) const;
  int64_t cores_per_host() const;
  Simulated Simulate(const CollectivePlan& plan) const;
  double Seconds(const Simulated& simulated, double payload) const;
  CollectiveEstimate Fastest(const Candidates& candidates, double payload) const;

  const NetworkSpec network_;
  const AlgorithmSpec algorithms_;
  const Topology topology_;
  const RouterEfficiency efficiency_;
  const std::vector<int64_t> core_of_device_;
  const int64_t copies_;
  const int64_t live_links_;
  std::map<std::string, Known> known_;
};

}  // namespace toroid
