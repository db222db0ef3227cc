// Builds a prediction (prediction.h) of what was simulated, row by row.
// BUILD: srcs += "prediction_builder.h", "prediction_builder.cc", "predicted_memory.cc", "predicted_events.cc"
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "simulator/chip/core_model.h"
#include "simulator/machines/machine.h"
#include "simulator/network/topology.h"
#include "simulator/prediction/collective_times.h"
#include "simulator/prediction/prediction.h"
#include "simulator/rules/compiler_scope.h"
#include "simulator/schedule/schedule.h"

namespace toroid {

// All outlive the call.
struct PredictionInputs {
  const Module& lowered;
  const Machine& machine;
  const ScheduleOptions& options;
  const Schedule& schedule;
  CoreModel& core;
  CollectiveTimes& collectives;
  const Topology& topology;
  double speed;                    // Of the slowest chip that runs the program.
  const std::vector<bool>& slots;  // Of the parameters: what no product reads.
  const Decisions& decisions;      // Of lowering.
  bool keep_timeline = false;
  int64_t exposed_host_ps = 0;  // Of the step, in which nothing but copies between host and device runs.
};

// Errors: those of collectives.
absl::StatusOr<Prediction> BuildPrediction(const PredictionInputs& inputs);

}  // namespace toroid
