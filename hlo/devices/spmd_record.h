// The fields in which a module records its devices.
//
// A partitioned module records its number of devices and how the global arguments and the result are sharded,
// in the fields spmd_parameters_shardings, spmd_output_sharding and device_assignment of HloModuleProto.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/ir/module.h"

namespace toroid {

// True if the module is the program of one partition: it has spmd_output_sharding.
bool IsPartitioned(const Module& module);

// Number of partitions of a partitioned module: from device_assignment, else from config().num_partitions.
// Errors: kInvalidArgument if both are there and differ, or if the number is not in [1, kMaxDevices].
absl::StatusOr<int64_t> PartitionsOf(const Module& module);

// Number of replicas of a module, from the same fields; not checked.
int64_t ReplicasOf(const Module& module);
void SetReplicas(int64_t replicas, Module* module);

// The shardings of entry parameter `i`, one per leaf; replicated if the module records none.
absl::StatusOr<std::vector<HloSharding>> ParameterShardings(const Module& module, int i);

// The shardings of the result, one per leaf.
absl::StatusOr<std::vector<HloSharding>> OutputShardings(const Module& module);

// True for a module that was partitioned but does not record it, as in HLO text printed by XLA: it has
// sharded entry parameters and collectives over several partitions, outside manual regions.
bool LooksPartitioned(const Module& module);
// Errors: kInvalidArgument, with advice, if LooksPartitioned.
absl::Status CheckPartitioningIsRecorded(const Module& module);

// True for the program of one device, as XLA prints it after partitioning by Shardy, or with collectives
// written by hand: it has collectives, no shardings and no manual regions. Nothing is left to partition.
bool IsProgramOfOneDevice(const Module& module);

// Whether the sharding, or one of its elements, is manual: the value is local to each device.
bool IsManual(const xla::OpSharding& sharding);

// What a call does at the border of a manual region, in either dialect.
enum class RegionBorder : uint8_t { kNone, kEnters, kLeaves };
RegionBorder BorderOf(const Instruction& instruction);

// True for a program that itself names devices, and so runs on no others: it has manual regions of either
// dialect, or collectives written by hand.
bool HasManualRegions(const Module& module);

}  // namespace toroid
