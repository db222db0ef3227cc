// Times of a program's collectives on a slice, each worked out once.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/ir/module.h"
#include "simulator/collectives/collective_simulator.h"

namespace toroid {

struct CollectiveTime {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int64_t bytes = 0;  // Of one device's operands.
  CollectiveEstimate estimate;
  // The busiest link at its full rate, and nothing else.
  int64_t roofline_ps = 0;
};

class CollectiveTimes {
 public:
  // Both outlive this. `counts`: replicas and partitions that run, as far as the module tells.
  CollectiveTimes(CollectiveSimulator* simulator, const DeviceCounts& counts)
      : simulator_(*simulator), counts_(counts) {}

  // Null for an op that exchanges nothing. Sends to a device and receives from one are transfers of their own: nothing.
  // Errors: those of the groups and of the simulator, after the instruction's path.
  absl::StatusOr<const CollectiveTime*> Of(const Instruction& instruction);

 private:
  absl::StatusOr<CollectiveTime> Compute(const Instruction& instruction, const Collective& collective);

  CollectiveSimulator& simulator_;
  const DeviceCounts counts_;
  absl::flat_hash_map<const Instruction*, CollectiveTime> known_;
};

}  // namespace toroid
