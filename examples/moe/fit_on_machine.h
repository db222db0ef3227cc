// Chooses what a model's training step keeps for its backward pass, so that it fits into the memory of a
// simulated machine.
//
//   TrainingOptions options{.remat = Remat::kFit, .memory_fit = FitOnMachine(machine, cost_model)};
#pragma once

#include "hlo/cost/cost_model.h"
#include "hlo/gradient/memory_fit.h"
#include "simulator/machines/machine.h"

namespace toroid {

// The limit is the memory of a core that programs may use. For a step a little above the limit, the
// compiler's rematerialization counts (rematerialization_pass). Peaks are those of the partitioned and
// lowered step; times are those of `model`, which must outlive the result. A search takes about ten
// predictions of the step.
MemoryFit FitOnMachine(const Machine& machine, const CostModel& model);

}  // namespace toroid
