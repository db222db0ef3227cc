// The custom-calls that decompose matrices: on the last two dimensions, for each index of the others.
//
//   Cholesky(a)         L with L * L^H = a, read from the lower triangle; zeros above; NaN where a is not
//                       positive definite. With option lower=false: U with U^H * U = a, from the upper
//                       triangle.
//   Eigh(a)             (v, w): eigenvectors in the columns of v, eigenvalues w ascending; a is symmetric or
//                       Hermitian, read from the lower triangle unless backend_config begins with "0".
//   Qr(a)               (packed, taus): R in the upper triangle, reflectors v_i below it without v_i[i] = 1;
//                       Q = H_0 * H_1 * .., H_i = I - tau_i * v_i * v_i^H. As LAPACK's geqrf.
//   ProductOfElementaryHouseholderReflectors(packed, taus)
//                       the first columns of that Q. As LAPACK's orgqr.
//   LuDecomposition(a)  (lu, pivots, permutation), pivots and permutation s32: a[permutation] = L * U, L with
//                       unit diagonal; row i was swapped with row pivots[i]. As LAPACK's getrf, but from 0.
//
// Computed in double precision, rounded once. Element types: floats and complex numbers.
// Errors: kInvalidArgument for operands and results of other shapes.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status CholeskyCall(OpCall& call);
absl::Status EighCall(OpCall& call);
absl::Status QrCall(OpCall& call);
absl::Status HouseholderProductCall(OpCall& call);
absl::Status LuCall(OpCall& call);

}  // namespace toroid
