// Vector instructions that ops take, by op.
#pragma once

#include "hlo/ir/module.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// Instructions for one register of the result; 0 for converts, broadcasts and data movement. A division by a constant counts as
// a product. A reduction counts the op that it applies, once for each register of its input.
double SlotsOf(const Instruction& instruction, const OpSlots& slots);

// The sum over all instructions of a computation over scalars, such as a reducer.
double SlotsOf(const Computation& computation, const OpSlots& slots);

}  // namespace toroid
