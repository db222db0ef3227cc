// Gradients of batch normalization.
#ifndef TOROID_HLO_GRADIENT_RULES_NORMALIZATION_H_
#define TOROID_HLO_GRADIENT_RULES_NORMALIZATION_H_

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status BatchNormTrainingGradient(Pullback& p);
absl::Status BatchNormInferenceGradient(Pullback& p);
absl::Status BatchNormGradGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_RULES_NORMALIZATION_H_
