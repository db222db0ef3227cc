// reduce-window: out[i] = fold of to_apply, from init, over the window at i of the padded and dilated
// operand.
//
// Padding and the holes of base dilation hold init. As to_apply is associative, windows are folded along one dimension after
// another, the last one first; a long window is composed of windows whose sizes are powers of two. Operands: n arrays, n scalar
// inits; any body. One array, a body of one op and an identity as init: see reduce_window_loop.h.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteReduceWindow(OpCall& call);

}  // namespace toroid
