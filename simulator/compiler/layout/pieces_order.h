// In which order of dimensions arrays lie that are put together from pieces or cut into them. layout_pass.h says by which rules.
#pragma once

#include "simulator/compiler/layout/preferred_order.h"

namespace toroid {

// That in which most elements of the operands lie; of what convolutions slide over, as they take it.
Dims OrderOfConcatenation(const Instruction& op, const LayoutState& state);

// For dots that read it, of a reshape that cuts lanes into pieces: rows along lanes, if that pads less. Empty otherwise.
Dims OrderOfPieces(const Instruction& reshape, const LayoutState& state);

// Of a reshape that cuts or joins dimensions, that would move elements as its operand lies: the order with the least padding in which
// it moves none, of those that pad alike one whose tiles have all their rows, row-major first. Empty if row-major fills whole tiles, or
// pads less, or if there is none.
// Example: f32[4,1024,16,128] to [4,1024,16,64,2] lies {1,2,4,3,0}, 1024 along lanes.
Dims OrderThatKeepsTiles(const Instruction& reshape, const LayoutState& state);

}  // namespace toroid
