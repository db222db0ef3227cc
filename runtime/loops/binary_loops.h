// Loops of ops of two operands of one type: out[i] = op(a[i], b[i]).
#pragma once

#include "runtime/loops/loop_of_two.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// The loop of an op on elements of `type` (not a narrow float, see ComputeType); null if the op is not
// defined on it. The result type is `type`; complex for the op `complex`.
TOROID_PER_LEVEL(FindBinaryLoop, BinaryLoop(Opcode opcode, PrimitiveType type));

}  // namespace toroid
