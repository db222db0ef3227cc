// Eigenvalues of self-adjoint matrices: one instance of the solver for all calls that need it.
#ifndef TOROID_RUNTIME_KERNELS_LINEAR_ALGEBRA_SELF_ADJOINT_H_
#define TOROID_RUNTIME_KERNELS_LINEAR_ALGEBRA_SELF_ADJOINT_H_

#include "hlo/ir/native_types.h"
#include "runtime/kernels/linear_algebra/matrix_batches.h"

namespace toroid {

// Eigenvectors into the columns of v [n,n], eigenvalues ascending into w [n]; a is read from its lower triangle. If a is not finite, or no
// eigenvalues are found: false, and NaN everywhere. Requires: n > 0.
bool SolveSelfAdjoint(const DenseMatrix<double>& a, DenseMatrix<double>* v, DenseVector<double>* w);
bool SolveSelfAdjoint(const DenseMatrix<complex128>& a, DenseMatrix<complex128>* v, DenseVector<double>* w);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_LINEAR_ALGEBRA_SELF_ADJOINT_H_
