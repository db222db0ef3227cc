// What a module says about devices.
//
// A partitioned module records for how many devices its entry is the program, and how the global arguments
// and the result are cut: fields spmd_parameters_shardings, spmd_output_sharding and device_assignment of
// HloModuleProto.
#ifndef TOROID_HLO_IR_SPMD_RECORD_H_
#define TOROID_HLO_IR_SPMD_RECORD_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_sharding.h"
#include "hlo/ir/module.h"

namespace toroid {

// The module is the program of one partition: it has spmd_output_sharding.
bool IsPartitioned(const Module& module);

// Devices that a partitioned module is for: partitions of device_assignment, config().num_partitions where
// there is none. Errors: kInvalidArgument if both are there and differ, or the number is not in [1,
// kMaxDevices].
absl::StatusOr<int64_t> PartitionsOf(const Module& module);

// Replicas that a module is for, by the same fields; not checked.
int64_t ReplicasOf(const Module& module);
void SetReplicas(int64_t replicas, Module* module);

// How entry parameter `i` is cut, one sharding per leaf; replicated where the module does not say.
absl::StatusOr<std::vector<HloSharding>> ParameterShardings(const Module& module, int i);

// How the result is cut, one sharding per leaf.
absl::StatusOr<std::vector<HloSharding>> OutputShardings(const Module& module);

// A module that records no partitioning but is its product all the same, as XLA prints it in HLO text:
// sharded entry parameters and collectives for several partitions, outside of manual regions.
bool LooksPartitioned(const Module& module);
// Errors: kInvalidArgument, with what to do, for such a module.
absl::Status CheckPartitioningIsRecorded(const Module& module);

// The program of one device as XLA prints it after partitioning by Shardy, and as one with collectives
// written by hand may be: collectives, no sharding on any op, no manual regions. Nothing is left to
// partition.
bool IsProgramOfOneDevice(const Module& module);

// Manual regions of either dialect, or collectives written by hand: the program itself names devices, and
// runs on no others.
bool HasManualRegions(const Module& module);

}  // namespace toroid

#endif  // TOROID_HLO_IR_SPMD_RECORD_H_
