#include "hlo/analysis/device_groups.h"

#include <algorithm>

#include "hlo/base/math.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/ops/device_groups.h"

namespace toroid {
namespace {

bool HasPairs(Opcode opcode) {
  return opcode == Opcode::kCollectivePermute || opcode == Opcode::kCollectivePermuteStart;
}

// Devices that the shardings recorded by partitioning name; 1 if there are none, or only replicated ones.
int64_t RecordedPartitions(const xla::OpSharding& sharding) {
  int64_t devices = std::max<int64_t>(1, sharding.tile_assignment_devices_size());
  for (const xla::OpSharding& leaf : sharding.tuple_shardings()) {
    devices = std::max(devices, RecordedPartitions(leaf));
  }
  if (sharding.type() != xla::OpSharding::OTHER) return devices;
  int64_t tiles = 1;
  for (const int64_t size : sharding.tile_assignment_dimensions()) {
    tiles = CheckedMultiply(tiles, std::max<int64_t>(size, 1)).value_or(1);
  }
  return std::max(devices, tiles);
}

int64_t RecordedPartitions(const Module& module) {
  int64_t devices = RecordedPartitions(module.proto().spmd_output_sharding());
  for (const xla::OpSharding& sharding : module.proto().spmd_parameters_shardings()) {
    devices = std::max(devices, RecordedPartitions(sharding));
  }
  return devices;
}

void Raise(int64_t end, std::optional<int64_t>* count) { *count = std::max(count->value_or(1), end); }

// Counts from the largest ids in collectives.
DeviceCounts CountsOfIds(const Module& module) {
  DeviceCounts counts;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (!IsCollective(instruction->opcode())) continue;
      const absl::StatusOr<GroupMode> mode = GroupModeOf(*instruction);
      if (!mode.ok()) continue;
      const bool partitions = *mode == GroupMode::kCrossPartition || *mode == GroupMode::kFlattened;
      std::optional<int64_t>* count = partitions ? &counts.partitions : &counts.replicas;
      if (HasPairs(instruction->opcode())) {
        for (const auto& [source, target] : SourceTargetPairs(instruction->attrs())) {
          const int64_t last = std::max(source, target);
          if (last >= 0 && last < INT32_MAX) Raise(last + 1, count);
        }
        continue;
      }
      const absl::StatusOr<DeviceGroupSizes> sizes =
          CheckDeviceGroups(instruction->attrs(), /*may_differ=*/true);
      if (sizes.ok() && sizes->given) Raise(sizes->end, count);
    }
  }
  return counts;
}

template <typename Groups>
std::set<int64_t> ListedSizes(const Groups& groups) {
  std::set<int64_t> sizes;
  for (const xla::ReplicaGroup& group : groups) sizes.insert(group.replica_ids_size());
  return sizes;
}

std::optional<int64_t> Product(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? CheckedMultiply(*a, *b) : std::nullopt;
}

}  // namespace

DeviceCounts DeviceCountsOf(const Module& module) {
  const ModuleConfig& config = module.config();
  if (config.replica_count > 1 || config.num_partitions > 1)
    return {config.replica_count, config.num_partitions};
  const xla::DeviceAssignmentProto& assignment = module.proto().device_assignment();
  if (assignment.replica_count() > 0 && assignment.computation_count() > 0) {
    return {assignment.replica_count(), assignment.computation_count()};
  }
  const int64_t recorded = RecordedPartitions(module);
  if (recorded > 1) return {1, recorded};
  return CountsOfIds(module);
}

std::optional<std::set<int64_t>> GroupSizesOf(const Instruction& instruction, const DeviceCounts& counts) {
  const absl::StatusOr<GroupMode> mode = GroupModeOf(instruction);
  const absl::StatusOr<DeviceGroupSizes> sizes = CheckDeviceGroups(instruction.attrs(), /*may_differ=*/true);
  if (!mode.ok() || !sizes.ok()) return std::nullopt;
  std::set<int64_t> members;
  if (!sizes->given) {
    const std::optional<int64_t> all = *mode == GroupMode::kCrossReplica ? counts.replicas
                                       : *mode == GroupMode::kCrossPartition
                                           ? counts.partitions
                                           : Product(counts.replicas, counts.partitions);
    if (!all) return std::nullopt;
    return std::set<int64_t>{*all};
  }
  if (sizes->size) {
    members.insert(*sizes->size);
  } else {
    const xla::HloInstructionProto& attrs = instruction.attrs();
    members = ListedSizes(attrs.replica_groups_size() > 0 ? attrs.replica_groups()
                                                          : attrs.collective_device_list().replica_groups());
  }
  if (*mode != GroupMode::kCrossReplicaAndPartition) return members;
  std::set<int64_t> devices;
  for (const int64_t n : members) {
    const std::optional<int64_t> product = Product(n, counts.partitions);
    if (!product) return std::nullopt;
    devices.insert(*product);
  }
  return devices;
}

}  // namespace toroid
