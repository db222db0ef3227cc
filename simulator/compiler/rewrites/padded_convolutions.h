// Zeros around the images of a convolution, and results that nobody reads.
//
//   convolution(pad(x, 0)) of places only           => convolution(x), which pads itself
//   slice(convolution(x)) of places, read by no one else => convolution(x) with less padding, or with images cut
//
// Example: a causal filter of 4 over 1024 steps, padded by 3 on both sides, of whose 1027 results the first 1024 are taken, has
// padding 3_0. Seen in Google's compiler for TPU v3.
#pragma once

#include "hlo/ir/module.h"

namespace toroid {

// A convolution of what is padded by zeros, without the pad; null if there is none.
Instruction* WithoutPad(const Instruction& convolution, Computation* computation);
// A convolution that makes of a convolution's results what `slice` takes of them; null if it takes more than places, or steps.
Instruction* ConvolutionOfSlice(const Instruction& slice, Computation* computation);

}  // namespace toroid
