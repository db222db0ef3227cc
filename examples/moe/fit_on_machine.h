// What a model's training step keeps for its backward pass so that it fits into the memory of a simulated machine.
//
//   TrainingOptions options{.remat = Remat::kFit, .memory_fit = FitOnMachine(machine, cost_model)};
#ifndef TOROID_EXAMPLES_MOE_FIT_ON_MACHINE_H_
#define TOROID_EXAMPLES_MOE_FIT_ON_MACHINE_H_

#include "hlo/cost/cost_model.h"
#include "hlo/gradient/memory_fit.h"
#include "simulator/machines/machine.h"

namespace toroid {

// The limit is what programs may use of a core's memory; a step a little above it the compiler makes fit
// (rematerialization_pass). Peaks are those of partitioned and lowered steps, times those of `model`, which outlives the
// result. A search costs some ten predictions of the step.
MemoryFit FitOnMachine(const Machine& machine, const CostModel& model);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_MOE_FIT_ON_MACHINE_H_
