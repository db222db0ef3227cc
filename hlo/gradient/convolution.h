// Gradients of a convolution, which are convolutions.
//
// The input's cotangent: the result's, dilated by the stride, with the kernel reversed and its features
// exchanged; the stride is what dilated the input. The kernel's: the input with the result's cotangent as
// kernel, batch and features exchanged; what dilated the kernel is the stride, and the stride dilates. Groups
// of features of one become groups of the batch of the other. Padding follows from the sizes: with N the
// dilated input, K the dilated kernel, T the dilated result,
//   input:   low = K - low - 1, high = N + K - 1 - T - low'        kernel:  low = low, high = T - N + K - low - 1
#ifndef TOROID_HLO_GRADIENT_CONVOLUTION_H_
#define TOROID_HLO_GRADIENT_CONVOLUTION_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status ConvolutionGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_CONVOLUTION_H_
