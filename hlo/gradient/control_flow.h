// Gradients of calls, branches and loops.
//
// The backward pass of a call runs the callee's pullback; that of a conditional branches as the forward pass
// did. Both compute again what they need from the operands.
// A loop of n trips is run once more forwards, now writing down what its backward pass needs of each trip,
// and then backwards over what was written: state x, body f, cotangents c,
//   x[t+1] = f(x[t]),    c[t] = c[t+1] * f'(x[t]),    t = n-1 .. 0.
// Leaves of the state that the body hands on unchanged are not written down, and their cotangents add up. In
// the computation that is differentiated the loop that writes takes the place of the one that was there. A
// fusion is a call; a map is its computation on all elements at once, if that is elementwise; a scan is a
// loop over slices.
#ifndef TOROID_HLO_GRADIENT_CONTROL_FLOW_H_
#define TOROID_HLO_GRADIENT_CONTROL_FLOW_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status CallGradient(Pullback& p);
absl::Status ConditionalGradient(Pullback& p);
absl::Status WhileGradient(Pullback& p);
absl::Status MapGradient(Pullback& p);
absl::Status ScanGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_CONTROL_FLOW_H_
