// Gradients of ops that order elements: cotangents go back by the permutation.
#ifndef TOROID_HLO_GRADIENT_SORT_H_
#define TOROID_HLO_GRADIENT_SORT_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status SortGradient(Pullback& p);
absl::Status TopKGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_SORT_H_
