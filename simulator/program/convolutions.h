// What a convolution is for, told by its sizes.
#pragma once

#include "hlo/ir/instruction.h"

namespace toroid {

// A convolution in which as much slides as it slides over, as for the gradient of a kernel: its images are features.
bool IsKernelGradient(const Instruction& convolution);

// A convolution of groups of channels, fewer than it has images, or the gradient of its kernel: images go along lanes, and
// each group passes by itself.
bool HoldsImagesOfGroups(const Instruction& convolution);

}  // namespace toroid
