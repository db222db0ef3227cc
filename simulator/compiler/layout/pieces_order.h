// In which order of dimensions concatenations lie, and reshapes that cut or join dimensions. layout_pass.h says by which rules.
#pragma once

#include "simulator/compiler/layout/preferred_order.h"

namespace toroid {

// The order of a concatenation: that in which most elements of its operands lie, or, for a convolution's images, as the
// convolution takes them.
Dims OrderOfConcatenation(const Instruction& op, const LayoutState& state);

// The order of a reshape that cuts the minor dimension into pieces and that dots read: rows along lanes, if that pads less.
// Empty if not.
Dims OrderOfPieces(const Instruction& reshape, const LayoutState& state);

// The order of a reshape that would move elements if its operand stayed as it lies: the one with the least padding in which
// nothing moves. Of orders that pad alike one whose tiles have all their rows, row-major first. Empty if there is none, or if
// row-major pads less or fills whole tiles.
// Example: f32[4,1024,16,128] to [4,1024,16,64,2] lies {1,2,4,3,0}, 1024 along lanes.
Dims OrderThatKeepsTiles(const Instruction& reshape, const LayoutState& state);

}  // namespace toroid
