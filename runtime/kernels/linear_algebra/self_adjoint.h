// Eigenvalues of self-adjoint matrices: one instance of the solver for all calls.
#pragma once

#include "hlo/ir/native_types.h"
#include "runtime/kernels/linear_algebra/matrix_batches.h"

namespace toroid {

// Eigenvectors go to the columns of v [n,n], ascending eigenvalues to w [n]; a is read from its lower
// triangle. Returns false, with NaN everywhere, if a is not finite or the solver finds no eigenvalues.
// Requires: n > 0.
bool SolveSelfAdjoint(const DenseMatrix<double>& a, DenseMatrix<double>* v, DenseVector<double>* w);
bool SolveSelfAdjoint(const DenseMatrix<complex128>& a, DenseMatrix<complex128>* v, DenseVector<double>* w);

}  // namespace toroid
