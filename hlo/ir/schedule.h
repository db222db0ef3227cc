// The order in which a scheduled module executes its instructions.
//
// HLO text has it in the order of its lines; protos list instructions in any order that puts operands first,
// and have the order of execution in a field of the module, by ids.
#ifndef TOROID_HLO_IR_SCHEDULE_H_
#define TOROID_HLO_IR_SCHEDULE_H_

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// By the header of the text it was read from, or by the schedule of its proto.
bool IsScheduled(const Module& module);

// The instructions of the computation in the order of the module's schedule; in the order of the computation
// if there is none for it, or one that leaves instructions out, repeats them, or puts a use first.
std::vector<const Instruction*> ExecutionOrder(const Computation& computation);

}  // namespace toroid

#endif  // TOROID_HLO_IR_SCHEDULE_H_
