// The order in which a scheduled module executes its instructions.
//
// In HLO text the order of lines is the order of execution. Protos list instructions in any order that puts
// operands first, and give the order of execution by ids in a field of the module.
#pragma once

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// True if the header of the text it was read from says so, or its proto has a schedule.
bool IsScheduled(const Module& module);

// The instructions in the order of the module's schedule. If there is none for this computation, or an
// invalid one (that omits or repeats instructions, or puts a use first): in the computation's own order.
std::vector<const Instruction*> ExecutionOrder(const Computation& computation);

}  // namespace toroid
