// The command hlo-run, as one library call.
//
// A module is run on the devices it was partitioned for; a global module is partitioned first, by
// `HloRunCommand::partition`. Global arguments are cut and results put together by the shardings the module
// records.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "commands/given_shardings.h"
#include "hlo/io/file.h"
#include "hlo/ir/module.h"
#include "runtime/loops/processor_level.h"

namespace toroid {

// Partitions a global module for N devices (0: what its shardings name). The result records N and its
// shardings (hlo/devices/spmd_record.h). Null if N is 0 and the module names no devices: it runs on one, as it is.
using PartitionFunction = std::function<absl::StatusOr<std::shared_ptr<const Module>>(
    const Module& module, int64_t num_partitions)>;

// How the devices are spread: all in this process, or an equal share on each rank that mpirun started.
enum class TransportKind { kLocal, kMpi };

struct HloRunCommand {
  std::string input;
  int64_t num_partitions = 0;  // 0: what the module's shardings name.
  int64_t num_replicas = 0;    // 0: what the module says, or its collectives name.
  GivenShardings given;        // Beside what the module says.
  std::string args;            // HloSnapshot, .npz or .npy; empty: those in the input, else generated.
  uint64_t seed = 0;
  bool check = false;
  std::string expected;  // HloSnapshot, .npz or .npy of the result that --check compares with, too.
  std::optional<double> tolerance;  // None: by element type.
  bool promote = false;             // Also run without rounding (runtime/numerics/promote.h).
  int64_t max_bytes = 0;  // Most bytes of values, arguments and result included; 0: DefaultMaxBytes().
  std::optional<ProcessorLevel> processor;  // None: the highest level of this processor.
  std::string infeed;                       // .npz of what infeeds take.
  std::string outfeed;                      // .npz to write, of what outfeeds give.
  bool plan = false;                        // Print the plan instead of running (runtime/engine/plan_text.h).
  bool profile =
      false;  // Print where the time of the run goes, on standard error (runtime/engine/run_profile.h).
  std::string trace;   // JSON file of the steps' times to write.
  std::string output;  // *.npz or *.npy: the result; else HloSnapshot with arguments, too. Empty: print it.
  PartitionFunction partition;
  TransportKind transport = TransportKind::kLocal;
  std::string command_line;  // What all ranks must have in common.
};

// Prints one line per output, "output{K} = SHAPE VALUE" (long values cut), or with `check` one JSON line:
//   {"equal", "verdict", "outputs", "max_abs_error", "max_rel_error", "nonfinite", "devices", "num_partitions",
//    "seconds": {"partition", "run", "reference", "proof"}, "proof": {...}, "rounding": {...}}
// and with `promote` a list with an entry per output (runtime/check/check_outcome.h, docs/commands.md).
// Errors: what reading, partitioning or running says, after the input's name; kInvalidArgument if there is
// nothing to check against; kFailedPrecondition if the check finds a difference. With ranks rank 0 alone reads, prints
// and writes, and the process ends here where a rank fails (runtime/transport/run_on_mpi.h).
absl::Status RunHloCommand(const HloRunCommand& command);

// The same, in this process, for a file that was read and whose module was verified; `command.input` is its name.
absl::Status RunHloFile(const HloRunCommand& command, HloFile& file);

}  // namespace toroid
