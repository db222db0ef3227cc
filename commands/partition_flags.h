// The flags that all commands that partition have in common.
#pragma once

#include "CLI/CLI.hpp"
#include "partitioner/prepare/partition_options.h"

namespace toroid {

// Adds the flags that set `options`: --num_partitions, --device_order=random:SEED, --objective, --strategies, --passes,
// --windowed_einsum and --poison_padding.
void AddPartitionFlags(CLI::App& app, PartitionOptions* options);

}  // namespace toroid
