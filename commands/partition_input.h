// What hlo-partition works on, and how it partitions it: for the command itself and for its trials.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "commands/partition_request.h"
#include "explain/page/whole_arrays.h"
#include "hlo/io/file.h"
#include "hlo/passes/pass.h"
#include "partitioner/stages/partitioned.h"
#include "simulator/cost/machine_cost_model.h"
#include "simulator/machines/machine.h"

namespace toroid {

// What --machine names, and its costs.
struct Slice {
  Machine machine;
  std::shared_ptr<const MachineCostModel> cost;
};

struct PartitionInput {
  std::optional<Slice> slice;
  HloFile file;
  // Before a search: the module with the shardings that it frees. Null if it frees none.
  std::unique_ptr<Module> annotated;
  PassObserver observer;  // Dumps and verifies the module after each phase and pass.
  // For the page: arrays of the program before partitioning, filled by the observer.
  std::shared_ptr<std::vector<WholeArray>> arrays = std::make_shared<std::vector<WholeArray>>();
};

// nullopt for an empty name.
absl::StatusOr<std::optional<Slice>> LoadSlice(const std::string& name);

// The module, verified, with the shardings that the command gives; without a slice.
absl::StatusOr<PartitionInput> ReadInputFile(const PartitionCommand& command);

// That a module is not the program of one partition already.
absl::Status CheckCanBePartitioned(const Module& module);

// The options of the command, with the slice's cost model and its predicted step; they refer to `input`.
PartitionOptions OptionsOf(const PartitionCommand& command, const PartitionInput& input);

// The program that `command` asks for. Errors: those of PartitionModule; kInvalidArgument for a module that is partitioned
// already.
absl::StatusOr<Partitioned> PartitionAsAsked(const PartitionCommand& command, const Module& module,
                                             const PartitionInput& input);

}  // namespace toroid
