// reduce-precision: rounds each element to a float of fewer exponent and mantissa bits, and back.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Rounds to a float of the given widths and back, staying in float or double: the mantissa to nearest even,
// too large exponents to infinity, results that would be denormal in that format to zero; NaN stays NaN.
double ReducePrecision(double value, int exponent_bits, int mantissa_bits);
float ReducePrecision(float value, int exponent_bits, int mantissa_bits);

// Errors: kInvalidArgument for bits that no float has, kUnimplemented for other types than floats.
absl::Status ReducePrecisionOf(OpCall& call);

}  // namespace toroid
