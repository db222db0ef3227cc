// The LAPACK and BLAS routines that JAX calls on CPU, as custom-calls lapack_<s|d|c|z><routine>_ffi, on the
// last two dimensions, for each index of the others. Options are those of the foreign function, such as {uplo
// = 76 : ui8}; letters are given by their codes. `info` is 0, or LAPACK's code for a matrix it cannot handle.
//
//   potrf          (l, info)                       Cholesky, in the triangle `uplo`
//   trsm           x of op(a) x = b or x op(a) = b, by side, uplo, trans_x, diag
//   getrf          (lu, pivots from 1, info)
//   geqrf, geqp3   (packed, tau), (packed, columns from 1, tau)
//   orgqr, ungqr   the first columns of Q          ormqr, unmqr   Q c, Q^H c, c Q, c Q^H, by left, transpose
//   gtsv           (dl, d, du, x, info)            tridiagonal systems
//   syevd, heevd   (v, w, info)                    eigenvalues ascending
//   gesdd, gesvd   (a, s, u, v^H, info), by mode: 65 whole, 83 thin, 78 values alone
//   geev           (wr, wi, vl, vr, info) of real, (w, vl, vr, info) of complex matrices,
//                  by compute_left, compute_right
//   gees           (t, z, wr, wi, sdim, info), (t, z, w, sdim, info)
//   gehrd          (packed, tau, info), by low, high
//   sytrd, hetrd   (packed, d, e, tau, info), by uplo
//
// Computed in double precision, rounded once. Results that are not unique (signs and phases of vectors, the
// order of eigenvalues of geev and gees) are Eigen's and may differ from LAPACK's. A call may leave `info`
// out. Errors: kInvalidArgument for operands, results or options of other kinds.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// The kernel of a target such as lapack_sgetrf_ffi; null for other targets.
Kernel FindLapackKernel(absl::string_view target);

}  // namespace toroid
