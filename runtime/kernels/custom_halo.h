// The custom-calls _SPMDInternalOp_*: shifted copies of an array x of n elements along one dimension.
//
//   RotateRight   dimension, amount                     y[i] = x[(i - amount) mod n]
//   MultiRotate   dimension, left_amount, right_amount  (rotated left by L, L - 1, .., 0, right by 1, .., R)
//   MultiSlice    dimension, amount, start_indices,     (x[start + k : limit + k] along the dimension,
//                 limit_indices, strides (default 1)    for k = 0 .. amount)
//   MultiPad      dimension, amt                        (k elements of padding, x, padding up to the
//                                                       result's size, for k = 0 .. amt);
//                                                       the padding is 0, or operand 1 if given
//   Wrap          dimension, left_amount, right_amount  last L elements of x, x, first R elements of x
//
// Options are read from backend_config (custom_config.h). Errors: kInvalidArgument for missing options and
// for results of other sizes.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status RotateRight(OpCall& call);
absl::Status MultiRotate(OpCall& call);
absl::Status MultiSlice(OpCall& call);
absl::Status MultiPad(OpCall& call);
absl::Status Wrap(OpCall& call);

}  // namespace toroid
