#include "hlo/devices/replicas.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/device_limit.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/devices/spmd_record.h"

namespace toroid {
namespace {

// One more than the largest number that the groups or pairs of a collective hold.
int64_t NumbersOf(const xla::HloInstructionProto& attrs) {
  int64_t largest = 0;
  const auto look = [&](const auto& groups) {
    for (const xla::ReplicaGroup& group : groups) {
      for (const int64_t id : group.replica_ids()) largest = std::max(largest, id);
    }
  };
  look(attrs.replica_groups());
  look(attrs.collective_device_list().replica_groups());
  for (const auto& [source, target] : SourceTargetPairs(attrs)) largest = std::max({largest, source, target});
  const auto& iota = attrs.iota_collective_device_list();
  const int64_t count =
      CheckedMultiply(iota.num_replica_groups(), iota.num_devices_per_group()).value_or(INT64_MAX);
  return std::max(count, largest == INT64_MAX ? largest : largest + 1);
}

}  // namespace

int64_t InferReplicas(const Module& module) {
  int64_t replicas = 1;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (!IsCollective(instruction->opcode())) continue;
      const auto mode = GroupModeOf(*instruction);
      if (!mode.ok() || *mode != GroupMode::kCrossReplica) continue;
      replicas = std::max(replicas, NumbersOf(instruction->attrs()));
    }
  }
  return replicas;
}

absl::StatusOr<int64_t> ReplicasToRun(const Module& module, int64_t given) {
  const int64_t said = ReplicasOf(module);
  if (said > 1 && given > 0 && given != said) {
    return absl::InvalidArgumentError(
        absl::StrCat("is written for ", said, " replicas; leave --replicas out"));
  }
  if (said < 1)
    return absl::InvalidArgumentError(absl::StrCat("asks for ", said, " replicas; there is at least one"));
  int64_t replicas = said > 1 ? said : std::max<int64_t>(given, 1);
  const bool partitions = IsPartitioned(module) || module.config().num_partitions > 1;
  if (said <= 1 && given == 0 && !partitions) replicas = InferReplicas(module);
  if (replicas > kMaxDevices) {
    return absl::InvalidArgumentError(absl::StrCat("asks for ", replicas, " replicas"));
  }
  return replicas;
}

}  // namespace toroid
