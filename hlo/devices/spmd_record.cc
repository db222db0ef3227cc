#include "hlo/devices/spmd_record.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo/devices/device_limit.h"
#include "hlo/devices/replica_groups.h"

namespace toroid {
namespace {

struct DeviceOps {
  bool collectives = false;  // Without collectives between replicas, if the module states several.
  bool boundaries = false;   // Boundaries of manual regions.
};

bool IsBetweenReplicas(const Instruction& instruction) {
  const auto mode = GroupModeOf(instruction);
  return mode.ok() && *mode == GroupMode::kCrossReplica;
}

DeviceOps FindDeviceOps(const Module& module) {
  const bool one_replica = ReplicasOf(module) <= 1;
  DeviceOps ops;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      ops.collectives |=
          IsCollective(instruction->opcode()) && (one_replica || !IsBetweenReplicas(*instruction));
      ops.boundaries |= BorderOf(*instruction) != RegionBorder::kNone;
    }
  }
  return ops;
}

}  // namespace

bool IsManual(const xla::OpSharding& sharding) {
  for (const xla::OpSharding& element : sharding.tuple_shardings()) {
    if (IsManual(element)) return true;
  }
  return sharding.type() == xla::OpSharding::MANUAL;
}

RegionBorder BorderOf(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kCustomCall) return RegionBorder::kNone;
  const absl::string_view target = instruction.custom_call_target();
  if (target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape")
    return RegionBorder::kEnters;
  const bool leaves = target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape";
  return leaves ? RegionBorder::kLeaves : RegionBorder::kNone;
}

bool IsPartitioned(const Module& module) { return module.proto().has_spmd_output_sharding(); }

int64_t ReplicasOf(const Module& module) {
  const int64_t assigned = module.proto().device_assignment().replica_count();
  if (assigned != 0) return assigned;  // 0: not stated.
  return module.config().replica_count;
}

void SetReplicas(int64_t replicas, Module* module) {
  module->config().replica_count = replicas;
  if (!module->proto().has_device_assignment()) return;
  module->mutable_proto()->mutable_device_assignment()->set_replica_count(static_cast<int32_t>(replicas));
}

absl::StatusOr<int64_t> PartitionsOf(const Module& module) {
  int64_t n = module.config().num_partitions;
  if (module.proto().has_device_assignment()) {
    const int64_t assigned = module.proto().device_assignment().computation_count();
    // Protos have no field for config().num_partitions: it is 1 in a module read from a proto.
    if (n != 1 && n != assigned) {
      return absl::InvalidArgumentError(absl::StrCat(
          "num_partitions=", n, " contradicts a device assignment of ", assigned, " partitions"));
    }
    n = assigned;
  }
  if (n < 1 || n > kMaxDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat("is partitioned for ", n, " devices; possible are 1 to ", kMaxDevices));
  }
  return n;
}

absl::StatusOr<std::vector<HloSharding>> ParameterShardings(const Module& module, int i) {
  const Shape& shape = module.entry()->parameter(i)->shape();
  if (i >= module.proto().spmd_parameters_shardings_size()) {
    return std::vector<HloSharding>(static_cast<size_t>(shape.NumLeaves()));
  }
  return HloSharding::LeavesFromProto(module.proto().spmd_parameters_shardings(i), shape);
}

absl::StatusOr<std::vector<HloSharding>> OutputShardings(const Module& module) {
  return HloSharding::LeavesFromProto(module.proto().spmd_output_sharding(), module.entry()->root()->shape());
}

bool LooksPartitioned(const Module& module) {
  if (IsPartitioned(module) || module.config().num_partitions <= 1) return false;
  const DeviceOps ops = FindDeviceOps(module);
  if (!ops.collectives || ops.boundaries) return false;
  for (int i = 0; i < module.entry()->num_parameters(); ++i) {
    const xla::OpSharding* sharding = module.entry()->parameter(i)->sharding();
    if (sharding != nullptr && sharding->type() == xla::OpSharding::OTHER) return true;
  }
  return false;
}

absl::Status CheckPartitioningIsRecorded(const Module& module) {
  if (!LooksPartitioned(module)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "seems to be partitioned already (it has collectives and sharded parameters, but no manual regions), "
      "and does not record how; give the proto, or the module before partitioning, in a dump of XLA the file with "
      "before_optimizations in its name");
}

bool IsProgramOfOneDevice(const Module& module) {
  const DeviceOps ops = FindDeviceOps(module);
  if (!ops.collectives || ops.boundaries) return false;
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->sharding() != nullptr) return false;
    }
  }
  return true;
}

bool HasManualRegions(const Module& module) {
  const DeviceOps ops = FindDeviceOps(module);
  return ops.collectives || ops.boundaries;
}

}  // namespace toroid
