// The command hlo-partition, as one library call.
#ifndef TOROID_PARTITIONER_PARTITION_COMMAND_H_
#define TOROID_PARTITIONER_PARTITION_COMMAND_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hlo/io/file.h"
#include "partitioner/spmd_partitioner.h"

namespace toroid {

// What --explain prints: nothing, rows that differ by numbers as one, or a row for every collective.
enum class Explain { kNothing, kGrouped, kFull };

struct PartitionCommand {
  std::string input;
  std::string output;  // Empty: write no module.
  std::optional<Format> format;
  std::vector<std::string> shardings;  // NAME=SHARDING
  std::string annotations;             // File of such lines; empty: none.
  std::string stats;                   // File for the statistics, "-" standard output; empty: none.
  Explain explain = Explain::kNothing;
  bool check = false;    // Run and compared before, by the caller.
  std::string dump_dir;  // Folder for the module after each phase; empty: none.
  PartitionOptions options;
};

// Reads, partitions and writes. Of a module that is partitioned already, by whichever partitioner, it only
// reports. Errors carry the file's name.
absl::Status RunPartitionCommand(const PartitionCommand& command);

// Reads and verifies a module, and puts the given shardings on it.
absl::StatusOr<HloFile> ReadForPartitioning(const PartitionCommand& command);

// What the command partitions, for another number of devices (0: as the module says).
absl::StatusOr<Partitioned> PartitionForCheck(const PartitionCommand& command, int64_t num_partitions);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PARTITION_COMMAND_H_
