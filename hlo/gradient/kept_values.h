// Which values of the forward pass stay until the backward pass needs them.
#ifndef TOROID_HLO_GRADIENT_KEPT_VALUES_H_
#define TOROID_HLO_GRADIENT_KEPT_VALUES_H_

#include "hlo/gradient/gradient_options.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// True for what costs no arithmetic and holds nothing new: broadcasts, reshapes, transposes, converts,
// constants, iota, tuples and their elements, copies, barriers, annotations. It is made again wherever it is
// needed.
bool TakesNoWork(const Instruction& op);

// True for what would give other values a second time, or do something twice: random state, transfers, custom
// calls marked so, and what calls one of them. Elements of their results too.
bool CannotBeRepeated(const Instruction& value);

// True if `value` is kept: because it cannot be repeated; because `keep` says so of it, or, of an element of
// a tuple, of what makes the tuple; without `keep`, if it takes work.
bool IsKept(const GradientOptions& options, const Instruction& value);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_KEPT_VALUES_H_
