// Products of transposed operands: dot(transpose(x), y) => dot(x, y) with other dimension numbers, if dimensions that are neither
// batch nor contracted keep their order.
#ifndef TOROID_SIMULATOR_LOWERING_TRANSPOSED_OPERANDS_H_
#define TOROID_SIMULATOR_LOWERING_TRANSPOSED_OPERANDS_H_

#include "hlo/ir/module.h"

namespace toroid {

// The product without its transposes; null if none can be left out.
Instruction* WithoutTransposedOperand(const Instruction& dot, Computation* computation);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_LOWERING_TRANSPOSED_OPERANDS_H_
