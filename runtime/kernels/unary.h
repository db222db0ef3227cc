// Elementwise ops of one operand: out[i] = op(x[i]).
//
// Result type: the operand's; pred for is-finite; for abs, real and imag of complex numbers the real type.
// Errors: kUnimplemented for an op that is not defined on the type.
#pragma once

#include "absl/status/status.h"
#include "hlo/opcode.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// `out` may be `x` if both types have the same size.
using UnaryLoop = void (*)(const void* x, void* out, int64_t n);

// The loop of an op on elements of `type` (not a narrow float); null if the op is not defined on it.
UnaryLoop FindUnaryLoop(Opcode opcode, PrimitiveType type);

// Rounds to a float of the given widths and back, staying in float or double: the mantissa to nearest even,
// too large exponents to infinity, results that would be denormal in that format to zero; NaN stays NaN.
double ReducePrecision(double value, int exponent_bits, int mantissa_bits);
float ReducePrecision(float value, int exponent_bits, int mantissa_bits);

absl::Status ExecuteUnary(OpCall& call);

}  // namespace toroid
