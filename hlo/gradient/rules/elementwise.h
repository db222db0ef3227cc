// Gradients of elementwise ops. The derivative of a complex op is the holomorphic one; the rules of abs,
// real, imag and complex follow from Re(sum of cotangent * change) (pullback.h).
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status UnaryGradient(Pullback& p);
absl::Status BinaryGradient(Pullback& p);
absl::Status SelectGradient(Pullback& p);
absl::Status ClampGradient(Pullback& p);
absl::Status ConvertGradient(Pullback& p);

}  // namespace toroid
