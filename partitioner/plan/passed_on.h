// Whether an op may take operands as partial sums (op_decision.h).
#pragma once

#include "hlo/ir/instruction.h"
#include "partitioner/plan/op_decision.h"

namespace toroid {

// True if the op may take the operands of `partial`, and no others, partial: it is linear in them together,
// under their reducer. Operands that would have to be partial as well may instead be constant zeros, the
// missing terms of a sum.
bool MayPassOn(const Instruction& instruction, const FlowOp& op, const PartialOperands& partial);

}  // namespace toroid
