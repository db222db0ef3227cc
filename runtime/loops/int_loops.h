// Loops of binary ops on integers.
#pragma once

#include "runtime/loops/loop_of_two.h"

namespace toroid {

// Null if the op is not defined on the integer type.
BinaryLoop FindIntLoop(Opcode opcode, PrimitiveType type);

}  // namespace toroid
