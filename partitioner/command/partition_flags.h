// Flags that every command which partitions understands.
#ifndef TOROID_PARTITIONER_COMMAND_PARTITION_FLAGS_H_
#define TOROID_PARTITIONER_COMMAND_PARTITION_FLAGS_H_

#include "CLI/CLI.hpp"
#include "partitioner/prepare/partition_options.h"

namespace toroid {

// Adds --num_partitions, --device_order=random:SEED and --poison_padding, which set `options`.
void AddPartitionFlags(CLI::App& app, PartitionOptions* options);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_COMMAND_PARTITION_FLAGS_H_
