// Dead code elimination: drops instructions whose results nothing needs.
#ifndef TOROID_HLO_PASSES_DCE_PASS_H_
#define TOROID_HLO_PASSES_DCE_PASS_H_

#include "hlo/ir/module.h"

namespace toroid {

// True if the instruction must stay although nothing uses its result: transfers, random state, custom calls
// marked so, and control flow that holds one of them.
bool HasSideEffect(const Instruction& instruction);

// Drops dead instructions of every computation, then unreachable computations. Parameters stay. Returns
// whether anything was dropped.
bool EliminateDeadCode(Module* module);

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_DCE_PASS_H_
