// Batch normalization along a feature dimension; N elements per feature, r = 1 / sqrt(variance + epsilon).
//
// training:  (x, scale, offset) -> (y, mean, biased variance), y = (x - mean) * r * scale + offset
// inference: (x, scale, offset, mean, variance) -> y
// grad:      (x, scale, mean, variance, dy) -> (dx, dscale, doffset), doffset = sum dy,
//            dscale = sum dy * (x - mean) * r,
//            dx = scale * r / N * (N * dy - sum dy - (x - mean) * r^2 * sum dy * (x - mean))
// Sums run in double.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteBatchNormTraining(OpCall& call);
absl::Status ExecuteBatchNormInference(OpCall& call);
absl::Status ExecuteBatchNormGrad(OpCall& call);

}  // namespace toroid
