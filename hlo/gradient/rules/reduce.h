// Gradients of reductions by add, maximum, minimum and multiply, of one array, and of reductions that choose
// elements.
//
// Elements equal to the maximum share its cotangent. For a product, an element's factor is the product of the
// others: those before it times those behind it, which is right for zeros too.
// For each of several arrays, a reducer may select one of its two elements by any comparison (argmax: a value
// and its index), add them, or take the larger or smaller one. The reduction is then repeated with the
// elements' places as a further array, and the cotangent goes to the selected place.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status ReduceGradient(Pullback& p);

}  // namespace toroid
