// Gradients of a convolution, which are convolutions.
//
// Input: the cotangent of the result, dilated by the stride, is convolved with the kernel, reversed and with
// its
//   features swapped. The stride is the input's dilation.
// Kernel: the input is convolved with the cotangent of the result as the kernel, with batch and features
//   swapped. The stride is the kernel's dilation, and the cotangent is dilated by the stride.
// Feature groups of the op become batch groups of a gradient, and vice versa. Padding follows from the sizes:
// with N the dilated input, K the dilated kernel, T the dilated result,
//   input:   low' = K - low - 1, high' = N + K - 1 - T - low'
//   kernel:  low' = low, high' = T - N + K - low - 1
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status ConvolutionGradient(Pullback& p);

}  // namespace toroid
