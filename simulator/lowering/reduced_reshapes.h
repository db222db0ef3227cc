// Sums over what was flattened.
//
//   reduce(f(reshape(x), reshape(y), c, broadcast(v))) => reduce(f(x, y, c, broadcast(reshape(v)))), f elementwise, if what is left
//   lies as x and y have it, and v over whole dimensions of theirs
//
// Example: the dot product of two matrices f32[512,2048] as vectors f32[1048576] is a sum over both dimensions of their product;
// sums over rows f32[8,4096] of images f32[8,32,32,4] are sums over three dimensions of these. No reshape that moves elements is left.
// Seen in Google's compiler for TPU v3.
#ifndef TOROID_SIMULATOR_LOWERING_REDUCED_RESHAPES_H_
#define TOROID_SIMULATOR_LOWERING_REDUCED_RESHAPES_H_

#include "hlo/ir/module.h"

namespace toroid {

// The reduction of what was not reshaped; null if there is none. Requires: `reduce` is of one array.
Instruction* ReductionBeforeReshape(const Instruction& reduce, Computation* computation);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_LOWERING_REDUCED_RESHAPES_H_
