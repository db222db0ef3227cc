// Gradients of windowed reductions.
//
// The cotangent of a windowed sum is a windowed sum of the result's cotangent, dilated by the stride, in
// windows of the same size. Its stride is the input's dilation. With N the dilated input, K the dilated
// window, T the dilated result, its padding is low' = K - low - 1, high' = N + K - 1 - T - low'. The
// cotangent of a windowed maximum goes to the first element of the window that equals it
// (select-and-scatter). For dilated windows, for initial values that may be larger, and for products, the
// reduction is expanded, with P_m[i] the fold of m elements from i on:
//   P_2m[i] = P_m[i] op P_m[i + m],   P_(m + n)[i] = P_m[i] op P_n[i + m],   one dimension after the other.
// select-and-scatter adds source elements at the places that windows select: the source's cotangent is read
// at those places.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status ReduceWindowGradient(Pullback& p);
absl::Status SelectAndScatterGradient(Pullback& p);

}  // namespace toroid
