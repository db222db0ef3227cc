// Gradients of reductions by add, maximum, minimum and multiply.
//
// A maximum's cotangent is shared by the elements that are equal to it. That of a product is the product of the others:
// those before times those behind, so that zeros do no harm.
#ifndef TOROID_HLO_GRADIENT_REDUCE_H_
#define TOROID_HLO_GRADIENT_REDUCE_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status ReduceGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_REDUCE_H_
