// Removes reshapes that are undone later, or that make no difference to a reduction.
//
//   reduce(f(reshape(x), reshape(y), c, broadcast(v)))  => reduce(f(x, y, c, broadcast(reshape(v)))), f elementwise, if the
//      dimensions that stay are dimensions of x and y, and v is broadcast along whole dimensions of theirs
//   reshape(f(reshape(x), reshape(y), c, broadcast(v))) => f(x, y, c, w), if the result has the sizes of x and y; w is v,
//      broadcast and reshaped to their sizes
//
// Examples: the dot product of two matrices f32[512,2048] as vectors f32[1048576] is a sum over both dimensions of their
// product; sums over rows f32[8,4096] of images f32[8,32,32,4] are sums over three dimensions of these; weights s8[4096,512]
// that are scaled in blocks of 128 rows, f32[32,128,512] times broadcast(f32[32,512]), are multiplied as they lie with
// reshape(broadcast(f32[32,512])). No reshape that moves elements is left but of what was spread. Seen in Google's compiler for
// TPU v3.
#pragma once

#include "absl/functional/function_ref.h"
#include "hlo/ir/module.h"

namespace toroid {

// The reduction of what was not reshaped; null if there is none. Requires: `reduce` is of one array.
Instruction* ReductionBeforeReshape(const Instruction& reduce, Computation* computation);

// The value of `reshape` without reshapes of arrays; null if it undoes none. `is_read_once`: whether a value has a single
// reader; only such values are made otherwise.
Instruction* MadeBeforeReshape(const Instruction& reshape,
                               absl::FunctionRef<bool(const Instruction&)> is_read_once,
                               Computation* computation);

}  // namespace toroid
