// The flags that all commands that partition have in common.
#ifndef TOROID_COMMANDS_PARTITION_FLAGS_H_
#define TOROID_COMMANDS_PARTITION_FLAGS_H_

#include "CLI/CLI.hpp"
#include "partitioner/prepare/partition_options.h"

namespace toroid {

// Adds the flags that set `options`: --num_partitions, --device_order=random:SEED, --objective, --strategies, --passes,
// --windowed_einsum and --poison_padding.
void AddPartitionFlags(CLI::App& app, PartitionOptions* options);

}  // namespace toroid

#endif  // TOROID_COMMANDS_PARTITION_FLAGS_H_
