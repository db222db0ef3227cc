// cholesky:         L with L * L^H = a, or U with U^H * U = a. Reads only that triangle; the other one is
// zero.
//                   NaN where a is not positive definite.
// triangular-solve: x with op(a) * x = b, or x * op(a) = b; op is none, transpose or adjoint.
//                   Does not read the other triangle, nor a unit diagonal.
// Both work on the last two dimensions, for each index of the others.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteCholesky(OpCall& call);
absl::Status ExecuteTriangularSolve(OpCall& call);

}  // namespace toroid
