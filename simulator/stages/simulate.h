// Predicts one execution of a program on a slice: lowering, times, schedule, memory, in that order.
//
//   ASSIGN_OR_RETURN(options.machine, LoadMachine("tpu-v3-128"));
//   ASSIGN_OR_RETURN(Simulation simulation, Simulate(*partitioned.module, options));
//   std::puts(SummaryText(simulation.prediction, 100).c_str());
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "simulator/machines/machine.h"
#include "simulator/prediction/prediction.h"
#include "simulator/schedule/schedule.h"
#include "simulator/simple/kernel_costs.h"

namespace toroid {

struct SimulationOptions {
  Machine machine;
  ScheduleOptions schedule;
  // The core on which each device runs; empty: device d on core d.
  std::vector<int64_t> core_of_device;
  std::vector<KernelCost> kernel_costs;
  // Events of the timeline, and link loads, are kept for reports that draw them.
  bool keep_timeline = false;
};

struct Simulation {
  Prediction prediction;
  std::unique_ptr<Module> lowered;  // The program as the machine's compiler would run it.
};

// `module` is the program of one partition, or of one device.
// Errors: kInvalidArgument for more devices than the slice has cores; those of CheckKernelCosts, lowering, collectives and
// schedule.
absl::StatusOr<Simulation> Simulate(const Module& module, const SimulationOptions& options);

}  // namespace toroid
