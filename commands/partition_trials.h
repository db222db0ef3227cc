// Trials of hlo-partition: the module partitioned again with other shardings (explain/advice.h, explain/what_if.h).
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "commands/partition_input.h"
#include "explain/explanation.h"

namespace toroid {

// Prints the answers of --what_if and --advise.
absl::Status TryShardings(const PartitionCommand& command, const PartitionInput& input,
                          const Partitioned& partitioned);

// What --explain says below its table without being asked: at most three changes that were tried. Of a program of more than
// kMostDiagnosedOps instructions before partitioning nothing is tried, and the diagnosis says so.
Diagnosis Diagnose(const PartitionCommand& command, const PartitionInput& input,
                   const Partitioned& partitioned);

// Six trials on a program of this size take about a second.
inline constexpr int64_t kMostDiagnosedOps = 5000;

}  // namespace toroid
