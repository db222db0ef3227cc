// Gradients of ops that sort elements: cotangents are permuted back.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status SortGradient(Pullback& p);
absl::Status TopKGradient(Pullback& p);

}  // namespace toroid
