// Partitions a module for hlo-run and hlo-simulate, if it is not partitioned yet.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "partitioner/prepare/partition_options.h"

namespace toroid {

// Returns the program of one partition of `module`, which is not changed. Returns null if the module runs on one device:
// `options` asks for one partition, or for any number while neither shardings nor manual regions name devices.
// Errors: those of PartitionModule.
absl::StatusOr<std::shared_ptr<const Module>> PartitionOnDemand(const Module& module,
                                                                const PartitionOptions& options);

}  // namespace toroid
