// Which instructions move elements, and how.
#pragma once

#include "hlo/ir/instruction.h"

namespace toroid {

// Puts arrays beside each other or values around one: operands come from memory.
bool Places(const Instruction& op);

// Spreads an array of rows and columns along further dimensions.
bool RepeatsElements(const Instruction& op);

// Gives dimensions another order, or leaves some of one element out.
bool IsInPlace(const Instruction& op);

}  // namespace toroid
