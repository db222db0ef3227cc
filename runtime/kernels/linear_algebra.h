// cholesky:         L with L * L^H = a, or U with U^H * U = a; only that triangle is read, the other one is
// zero.
//                   NaN where a is not positive definite.
// triangular-solve: x with op(a) * x = b, or x * op(a) = b; op is none, transpose or adjoint. The other
// triangle,
//                   and a unit diagonal, are not read.
// Both over the last two dimensions, for each index of the others.
#ifndef TOROID_RUNTIME_KERNELS_LINEAR_ALGEBRA_H_
#define TOROID_RUNTIME_KERNELS_LINEAR_ALGEBRA_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteCholesky(OpCall& call);
absl::Status ExecuteTriangularSolve(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_LINEAR_ALGEBRA_H_
