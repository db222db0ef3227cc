// The command hlo-simulate, as one library call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "commands/given_shardings.h"
#include "partitioner/prepare/partition_options.h"
#include "simulator/machines/machine.h"
#include "simulator/schedule/schedule.h"

namespace toroid {

struct SimulateCommand {
  std::string input;
  std::string machine;  // Empty: the smallest TPU v3 slice with a core for each device.
  Rates rates = Rates::kCompiler;
  PartitionOptions options;                     // For a module that is not partitioned yet.
  GivenShardings given;                         // Beside what the module says.
  std::string device_assignment = "row-major";  // "topology", "best", or a file of core numbers.
  ScheduleOptions schedule;
  std::vector<std::string> parameters;     // NAME=VALUE of the machine.
  std::vector<std::string> kernel_costs;   // NAME=COST of custom calls (simulator/simple/kernel_costs.h).
  std::vector<std::string> without_rules;  // Names of rules that the compiler shall not have.
  bool list_rules = false;                 // Prints all rules, and does nothing else.
  // Explains groups and collectives that have this in their instruction, name or line, in place of the summary.
  std::optional<std::string> explain;
  std::string json, trace, report, dump_lowered;  // Files; "-" standard output; empty: none.
  std::vector<std::string> sweep;                 // NAME=VALUE,VALUE,...
  std::string sweep_output;                       // Files PREFIX.csv and PREFIX.html.
};

// Reads the module, partitions it if it is not partitioned, simulates one execution, prints a summary or an explanation and
// writes what was asked for. Errors: what reading, partitioning or simulating says, after the input's name.
absl::Status RunSimulateCommand(const SimulateCommand& command);

}  // namespace toroid
