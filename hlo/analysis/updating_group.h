// Groups that update one of their operands in place.
//
// Example: u = fusion(state, x, i), whose root is dynamic-update-slice(parameter 0, f(parameter 1), parameter 2): u is
// written where state lies, as the update alone would be.
#pragma once

#include "hlo/ir/instruction.h"

namespace toroid {

// The operand that the result of fusion `op` can be written over: the root updates it, and nothing else in the group reads
// it. -1 for any other instruction.
int UpdatedOperand(const Instruction& op);

}  // namespace toroid
