// The cost of training, from a simulated step.
#pragma once

#include <cstdint>

#include "benchmarks/training_model.h"
#include "examples/moe/published.h"

namespace toroid {

struct TrainingCost {
  double steps_per_second, days, core_years;
};

// The cost of training up to `tokens` source tokens.
inline TrainingCost CostOfTraining(const SimulatedTraining& training, int64_t tokens_per_step,
                                   double tokens = 1e12) {
  constexpr double kSecondsPerDay = 86400, kDaysPerYear = 365.25;
  TrainingCost cost;
  cost.steps_per_second = 1 / training.step_seconds;
  cost.days = tokens / static_cast<double>(tokens_per_step) * training.step_seconds / kSecondsPerDay;
  cost.core_years = cost.days * static_cast<double>(training.config.devices) / kDaysPerYear;
  return cost;
}

}  // namespace toroid
