// The command hlo-simulate, as one library call.
#ifndef TOROID_SIMULATOR_COMMAND_SIMULATE_COMMAND_H_
#define TOROID_SIMULATOR_COMMAND_SIMULATE_COMMAND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "simulator/machines/machine.h"
#include "simulator/schedule/schedule.h"

namespace toroid {

// What a sweep changes of the program's partitioning.
struct PartitionRequest {
  int64_t num_partitions = 0;               // 0: what the module's shardings name.
  std::vector<std::string> shardings = {};  // NAME=SHARDING, beside those in the module.
};

// The program of one partition of `module`, or null if it names no devices and none are asked for: it runs on one core as
// it is.
using PartitionForSimulation = std::function<absl::StatusOr<std::shared_ptr<const Module>>(
    const Module& module, const PartitionRequest& request)>;

struct SimulateCommand {
  std::string input;
  std::string machine;  // Empty: the smallest TPU v3 slice with a core for each device.
  Rates rates = Rates::kCompiler;
  PartitionRequest request;
  std::string device_assignment = "row-major";  // "topology", "best", or a file of core numbers.
  ScheduleOptions schedule;
  std::vector<std::string> parameters;            // NAME=VALUE of the machine.
  std::string json, trace, report, dump_lowered;  // Files; "-" standard output; empty: none.
  std::vector<std::string> sweep;                 // NAME=VALUE,VALUE,...
  std::string sweep_output;                       // Files PREFIX.csv and PREFIX.html.
  PartitionForSimulation partition;
};

// Reads the module, partitions it if it is not partitioned, simulates one execution, prints a summary and writes what was
// asked for. Errors: what reading, partitioning or simulating says, after the input's name.
absl::Status RunSimulateCommand(const SimulateCommand& command);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_COMMAND_SIMULATE_COMMAND_H_
