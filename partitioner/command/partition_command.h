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

// The output of --explain. kGrouped: rows that differ only by numbers are one; kFull: a row for every
// collective; kPlan: the plan (../plan/plan_text.h).
enum class Explain { kNothing, kGrouped, kFull, kPlan };

// Returns the program of one partition of `module`, for `num_partitions` devices (0: as the module says). The
// command owns the result.
using PartitionOnce =
    std::function<absl::StatusOr<const Module*>(const Module& module, int64_t num_partitions)>;

// Implements --check: runs the partitioned program on simulated devices and compares it with the
// unpartitioned run of the file's module. The binary supplies it, since the runtime is no part of the
// partitioner.
using CheckProgram = std::function<absl::Status(HloFile& file, const PartitionOnce& partition)>;

// Predicts the times of the program of one partition on the machine that --machine names. The binary supplies
// it, and the cost model of the same machine in `options.cost`, since the simulator is no part of the
// partitioner.
using PredictProgram = std::function<absl::StatusOr<PredictedTimes>(const Module& program)>;

struct PartitionCommand {
  std::string input;
  std::string output;  // Empty: write no module.
  std::optional<Format> format;
  std::vector<std::string> shardings;  // NAME=SHARDING
  std::string plan;                    // A file with the plan to partition by; empty: none.
  std::string annotations;             // A file of such lines; empty: none.
  std::string stats;                   // The file for the statistics, "-" for standard output; empty: none.
  Explain explain = Explain::kNothing;
  CheckProgram check;      // Called before anything is written; empty: no check.
  PredictProgram predict;  // Called before anything is written; empty: no machine.
  std::string dump_dir;    // Folder for the module after each phase and pass; empty: none.
  bool verify = false;     // Verify the module after each phase and pass.
  PartitionOptions options;
};

// Reads the module, partitions it, writes it and reports on it. With `predict`, partitions it under two cost
// models and takes the program that is predicted faster. A module that is partitioned already is only
// reported on.
// Errors: those of reading, partitioning, checking and writing; they name the file.
absl::Status RunPartitionCommand(const PartitionCommand& command);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_COMMAND_PARTITION_COMMAND_H_
