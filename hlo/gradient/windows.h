// Gradients of windowed reductions.
//
// A sum's cotangent is a sum over windows again: of the result's cotangent, dilated by the stride, in windows
// of the same size, that begin where the window first reaches an element. With N the dilated input, K the
// dilated window, T the dilated result: low = K - low - 1, high = N + K - 1 - T - low'; what dilated the
// input is the stride. A maximum's goes to the first element of each window that is it: select-and-scatter.
// Where windows are dilated or begin with a value that may be larger, and for products, the reduction is
// written out, with P_m[i] the fold of m elements from i on:
//   P_2m[i] = P_m[i] op P_m[i + m],   P_(m + n)[i] = P_m[i] op P_n[i + m],   one dimension after the other.
// Of select-and-scatter, a sum over what windows select by comparing, the source's cotangent is read where
// its window selects.
#ifndef TOROID_HLO_GRADIENT_WINDOWS_H_
#define TOROID_HLO_GRADIENT_WINDOWS_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status ReduceWindowGradient(Pullback& p);
absl::Status SelectAndScatterGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_WINDOWS_H_
