// The command hlo-partition, as one library call.
#ifndef TOROID_PARTITIONER_COMMAND_PARTITION_COMMAND_H_
#define TOROID_PARTITIONER_COMMAND_PARTITION_COMMAND_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hlo/cost/predicted_times.h"
#include "hlo/io/file.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {

// The output of --explain: nothing, rows that differ by numbers as one, or a row for every collective.
enum class Explain { kNothing, kGrouped, kFull };

// Gives the program of one partition of the module that is read, for `num_partitions` devices (0: as the module says).
// The result belongs to the command.
using PartitionOnce =
    std::function<absl::StatusOr<const Module*>(const Module& module, int64_t num_partitions)>;

// Runs the program on simulated devices and compares it with the unpartitioned run of the file's module: --check. The
// binary supplies it, since what runs programs is no part of the partitioner.
using CheckProgram = std::function<absl::Status(HloFile& file, const PartitionOnce& partition)>;

// Predicts the program of one partition on the machine that --machine names. The binary supplies it, and the costs of the
// same machine in `options.cost`, since machines are no part of the partitioner.
using PredictProgram = std::function<absl::StatusOr<PredictedTimes>(const Module& program)>;

struct PartitionCommand {
  std::string input;
  std::string output;  // Empty: write no module.
  std::optional<Format> format;
  std::vector<std::string> shardings;  // NAME=SHARDING
  std::string annotations;             // File of such lines; empty: none.
  std::string stats;                   // File for the statistics, "-" standard output; empty: none.
  Explain explain = Explain::kNothing;
  CheckProgram check;      // Before anything is written; empty: no check.
  PredictProgram predict;  // Likewise; empty: no machine.
  std::string dump_dir;    // Folder for the module after each phase and pass; empty: none.
  bool verify = false;     // The verifier runs after each phase and pass.
  PartitionOptions options;
};

// Reads the module, partitions it and writes it; with `predict`, partitions it under two cost models and takes the
// faster program. A module that some partitioner has partitioned already is only reported on. Errors carry the file's
// name.
absl::Status RunPartitionCommand(const PartitionCommand& command);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_COMMAND_PARTITION_COMMAND_H_
