// The command hlo-partition, as one library call.
#pragma once

#include "absl/status/status.h"
#include "commands/partition_request.h"

namespace toroid {

// Reads the module, partitions it, writes it and reports on it. With `machine`, the best few programs are simulated and the one
// that is predicted fastest is taken. A module that is partitioned already is only
// reported on.
// Errors: those of reading, partitioning, checking and writing; they name the file.
absl::Status RunPartitionCommand(const PartitionCommand& command);

}  // namespace toroid
