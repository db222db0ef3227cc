// Vector instructions that ops take, by op.
#ifndef TOROID_SIMULATOR_CHIP_OP_SLOTS_H_
#define TOROID_SIMULATOR_CHIP_OP_SLOTS_H_

#include "hlo/ir/module.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// For one register of the result; 0 for what takes none (converts, broadcasts, data movement). A division by a constant
// is a product. Of a reduction: of what it applies, for one register of its input.
double SlotsOf(const Instruction& instruction, const OpSlots& slots);

// Those of all instructions of a computation over scalars.
double SlotsOf(const Computation& computation, const OpSlots& slots);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_CHIP_OP_SLOTS_H_
