// The program that hlo-run executes and hlo-simulate predicts for a module that may not be partitioned yet.
#ifndef TOROID_PARTITIONER_COMMAND_PARTITION_ON_DEMAND_H_
#define TOROID_PARTITIONER_COMMAND_PARTITION_ON_DEMAND_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "partitioner/prepare/partition_options.h"

namespace toroid {

// The program of one partition of `module`, which stays as it is, with NAME=SHARDING beside its own shardings. Null
// where the module runs on one device as it is: one partition is asked for, or any number and neither shardings nor
// manual regions name devices.
// Errors: those of ApplyGivenShardings and PartitionModule.
absl::StatusOr<std::shared_ptr<const Module>> PartitionOnDemand(const Module& module,
                                                                absl::Span<const std::string> shardings,
                                                                const PartitionOptions& options);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_COMMAND_PARTITION_ON_DEMAND_H_
