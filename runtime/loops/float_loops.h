// Loops of binary ops on f32, f64, c64 and c128.
#pragma once

#include "runtime/loops/loop_of_two.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// Null if the op is not defined on the type.
TOROID_PER_LEVEL(FindFloatLoop, BinaryLoop(Opcode opcode, PrimitiveType type));

}  // namespace toroid
