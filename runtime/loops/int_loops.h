// Loops of binary ops on integers.
#ifndef TOROID_RUNTIME_LOOPS_INT_LOOPS_H_
#define TOROID_RUNTIME_LOOPS_INT_LOOPS_H_

#include "runtime/loops/loop_of_two.h"

namespace toroid {

// Null if the op is not defined on the integer type.
BinaryLoop FindIntLoop(Opcode opcode, PrimitiveType type);

}  // namespace toroid

#endif  // TOROID_RUNTIME_LOOPS_INT_LOOPS_H_
