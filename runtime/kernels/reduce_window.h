// reduce-window: out[i] = fold of to_apply, from init, over the window at i of the padded and dilated
// operand.
//
// Padding and the holes of base dilation hold init. As to_apply is associative, windows are folded along one dimension after
// another, the last one first; a long window is composed of windows whose sizes are powers of two. Operands: n arrays, n scalar
// inits; any body. One array, a body of one op and an identity as init: see reduce_window_loop.h.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteReduceWindow(OpCall& call);

// Bytes that it takes beside operands and result. `rows`: of each operand.
int64_t ReduceWindowScratchBytes(const Instruction& reduce_window, absl::Span<const int64_t> rows);

}  // namespace toroid
