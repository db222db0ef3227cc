// stochastic-convert: float to integer, rounding away from zero with the probability of the dropped fraction.
//   out = sign(x) * (trunc|x| + (random < frac|x| * 2^bits)), saturated; NaN gives 0.
#pragma once

#include "runtime/loops/loop_of_two.h"

namespace toroid {

// Operands: elements of `from`, and unsigned integers of the same width. Null if `from` is not a float of 8
// to 64 bits or `to` is not an integer type.
BinaryLoop FindStochasticConvertLoop(PrimitiveType from, PrimitiveType to);

}  // namespace toroid
