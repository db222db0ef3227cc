// Gradients of batch normalization.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status BatchNormTrainingGradient(Pullback& p);
absl::Status BatchNormInferenceGradient(Pullback& p);
absl::Status BatchNormGradGradient(Pullback& p);

}  // namespace toroid
