// Gradients of elementwise ops. The derivative of a complex op is the holomorphic one; the rules of abs,
// real, imag and complex follow from Re(sum of cotangent * change) (pullback.h).
#ifndef TOROID_HLO_GRADIENT_RULES_ELEMENTWISE_H_
#define TOROID_HLO_GRADIENT_RULES_ELEMENTWISE_H_

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status UnaryGradient(Pullback& p);
absl::Status BinaryGradient(Pullback& p);
absl::Status SelectGradient(Pullback& p);
absl::Status ClampGradient(Pullback& p);
absl::Status ConvertGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_RULES_ELEMENTWISE_H_
