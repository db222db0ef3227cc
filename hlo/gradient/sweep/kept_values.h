// Which values of the forward pass are kept until the backward pass needs them.
#pragma once

#include "hlo/gradient/sweep/gradient_options.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// True for ops without arithmetic, which are recomputed wherever they are needed: broadcasts, reshapes,
// transposes, converts, constants, iota, tuples and their elements, copies, barriers, annotations.
bool TakesNoWork(const Instruction& op);

// True for values that must not be recomputed, since they would differ or have a side effect twice: random
// state, transfers, custom calls marked so, callers of these, and elements of their results.
bool CannotBeRepeated(const Instruction& value);

// True if `value` is kept: if it cannot be repeated; or if `keep` is true for it (for an element of a tuple
// also: for the instruction that makes the tuple); or, without `keep`, if it takes work.
bool IsKept(const GradientOptions& options, const Instruction& value);

}  // namespace toroid
