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

// What --explain says below its table without being asked: at most three changes that were tried. Six programs are tried,
// fewer if they have more than kDiagnosedInstructions together before partitioning. If not even one is, the diagnosis says so.
Diagnosis Diagnose(const PartitionCommand& command, const PartitionInput& input,
                   const Partitioned& partitioned);

// Instructions of all programs that are tried. They take about a second.
inline constexpr int64_t kDiagnosedInstructions = 200000;

}  // namespace toroid
