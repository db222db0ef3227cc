// Gradients of windowed reductions.
//
// A sum's cotangent is a sum over windows again: of the result's cotangent, dilated by the stride, in windows of the same
// size, that begin where the window first reaches an element. With N the dilated input, K the dilated window, T the dilated
// result: low = K - low - 1, high = N + K - 1 - T - low'; what dilated the input is the stride.
// A maximum's goes to the first element of each window that is it: select-and-scatter.
#ifndef TOROID_HLO_GRADIENT_WINDOWS_H_
#define TOROID_HLO_GRADIENT_WINDOWS_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status ReduceWindowGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_WINDOWS_H_
