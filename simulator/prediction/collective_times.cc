#include "simulator/prediction/collective_times.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "hlo/devices/replica_groups.h"

namespace toroid {

absl::StatusOr<const CollectiveTime*> CollectiveTimes::Of(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kAsyncStart && instruction.called().size() == 1) {
    return Of(*instruction.called(0)->root());
  }
  const std::optional<Collective> collective = CollectiveOf(instruction, counts_);
  if (!collective.has_value()) return nullptr;
  const auto found = known_.find(&instruction);
  if (found != known_.end()) return &found->second;
  absl::StatusOr<CollectiveTime> time = Compute(instruction, *collective);
  if (!time.ok()) return Annotate(time.status(), instruction.Path());
  return &(known_[&instruction] = *std::move(time));
}

absl::StatusOr<CollectiveTime> CollectiveTimes::Compute(const Instruction& instruction,
                                                        const Collective& collective) {
  CollectiveTime time;
  time.kind = collective.kind;
  time.bytes = collective.operand_bytes;
  const int64_t replicas = counts_.replicas.value_or(1), partitions = counts_.partitions.value_or(1);
  const bool has_pairs = collective.kind == CollectiveKind::kPermute;
  if (has_pairs) {
    ASSIGN_OR_RETURN(const auto pairs, ExpandSourceTargetPairs(instruction, replicas, partitions));
    ASSIGN_OR_RETURN(time.estimate, simulator_.EstimatePermute(time.bytes, pairs));
  } else {
    ASSIGN_OR_RETURN(const DeviceGroups groups, ExpandDeviceGroups(instruction, replicas, partitions));
    ASSIGN_OR_RETURN(time.estimate, simulator_.Estimate(time.kind, time.bytes, groups));
  }
  const int64_t busiest = time.estimate.busiest_link;
  if (busiest >= 0) {
    time.roofline_ps =
        PicosecondsOf(time.estimate.LinkBytes(busiest) / simulator_.topology().LinkRate(busiest));
  }
  time.roofline_ps += time.estimate.between_slices_roofline;
  return time;
}

}  // namespace toroid
