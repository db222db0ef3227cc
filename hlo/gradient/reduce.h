// Gradients of reductions by add, maximum, minimum and multiply, of one array, and of reductions that choose
// elements.
//
// A maximum's cotangent is shared by the elements that are equal to it. That of a product is the product of
// the others: those before times those behind, so that zeros do no harm.
// A reducer may choose, array by array, one of its two elements by comparing whatever it likes (argmax: a
// value and its index), or add, or take the larger. The reduction then runs again with the elements' places
// chosen along, and the cotangent goes to the place that was.
#ifndef TOROID_HLO_GRADIENT_REDUCE_H_
#define TOROID_HLO_GRADIENT_REDUCE_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status ReduceGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_REDUCE_H_
