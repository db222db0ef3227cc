// Loops of binary ops on integers.
#pragma once

#include "runtime/loops/loop_of_two.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// Null if the op is not defined on the integer type.
TOROID_PER_LEVEL(FindIntLoop, BinaryLoop(Opcode opcode, PrimitiveType type));

}  // namespace toroid
