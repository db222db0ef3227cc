// Products of transposed operands: dot(transpose(x), y) => dot(x, y) with other dimension numbers, if dimensions that are
// neither batch nor contracted keep their order.
#pragma once

#include "hlo/ir/module.h"

namespace toroid {

// The product without its transposes; null if none can be left out.
Instruction* WithoutTransposedOperand(const Instruction& dot, Computation* computation);

}  // namespace toroid
