// Gradients of calls, branches and loops.
//
// The backward pass of a call runs the callee's pullback; that of a conditional takes the same branch as the
// forward pass. Both recompute the values they need from the operands.
// The backward pass of a loop of n trips needs values of each trip. A forward loop records them in arrays,
// and a backward loop reads them: state x, body f, cotangents c,
//   x[t+1] = f(x[t]),    c[t] = c[t+1] * f'(x[t]),    t = n-1 .. 0.
// Leaves of the state that the body hands on unchanged are not recorded, and their cotangents add up. The
// recording loop replaces the original one in the differentiated computation. A fusion is treated as a call,
// an elementwise map as its computation on whole arrays, a scan as a loop over slices.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status CallGradient(Pullback& p);
absl::Status ConditionalGradient(Pullback& p);
absl::Status WhileGradient(Pullback& p);
absl::Status MapGradient(Pullback& p);
absl::Status ScanGradient(Pullback& p);

}  // namespace toroid
