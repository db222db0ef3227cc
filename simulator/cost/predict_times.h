// Predicted times of a program's collectives, told of the program as it was before lowering.
//
//   ASSIGN_OR_RETURN(const PredictedTimes times, PredictTimes(*partitioned.module, machine));
//   times.of_collective.at(all_reduce)   // In seconds.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/cost/predicted_times.h"
#include "hlo/ir/module.h"
#include "simulator/machines/machine.h"

namespace toroid {

// All-reduces that lowering combines share the time of the one they become by their bytes. One that lowering removes has no
// entry. Errors: those of Simulate.
absl::StatusOr<PredictedTimes> PredictTimes(const Module& program, const Machine& machine);

// Adds what a schedule in which collectives run beside other ops hides of them (PredictedTimes::hidden): the part of a
// collective's time in which the core computes. Of a timeline that is too long to be kept the first events count for all.
// Errors: those of Simulate.
absl::Status AddHiddenTimes(const Module& program, const Machine& machine, PredictedTimes* times);

}  // namespace toroid
