// The smallest program that can be trained: a linear model by gradient descent with momentum.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "examples/training/trainer.h"
#include "hlo/ir/literal.h"

namespace toroid {

// loss = mean of (x w - y)^2 with x f32[16,8], made a little larger or smaller by the seed, y f32[16,4], w
// f32[8,4]. State: step, w, and its momentum; metrics: loss, tokens, load f32[1,4]. x and y are split over
// the devices, w by rows; the momentum is not cut.
absl::StatusOr<TrainingProgram> LinearProgram(int64_t devices, double learning_rate = 2);

// x, and y = x w + noise, for a w that is the same for all steps.
std::vector<Literal> LinearInputs(int64_t step);

}  // namespace toroid
