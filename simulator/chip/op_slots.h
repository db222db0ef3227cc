// Vector instructions that ops take, by op.
#pragma once

#include "hlo/ir/module.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// For one register of the result; 0 for what takes none (converts, broadcasts, data movement). A division by a constant
// is a product. Of a reduction: of what it applies, for one register of its input.
double SlotsOf(const Instruction& instruction, const OpSlots& slots);

// Those of all instructions of a computation over scalars.
double SlotsOf(const Computation& computation, const OpSlots& slots);

}  // namespace toroid
