// Gradients of ops that sort elements: cotangents are permuted back.
#ifndef TOROID_HLO_GRADIENT_RULES_SORT_H_
#define TOROID_HLO_GRADIENT_RULES_SORT_H_

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status SortGradient(Pullback& p);
absl::Status TopKGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_RULES_SORT_H_
