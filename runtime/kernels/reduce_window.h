// reduce-window: out[i] = fold of to_apply, from init, over the window at i of the padded and dilated
// operand.
//
// Padding and the holes of base dilation hold init. As to_apply is associative, windows are folded along one
// dimension after another, innermost first; a long window is composed of windows whose sizes are powers of
// two, so a cumulative sum of n elements takes about 2 log n passes. Operands: n arrays, n scalar inits; any
// body.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteReduceWindow(OpCall& call);

}  // namespace toroid
