#include "runtime/kernels/linear_algebra/self_adjoint.h"

#include <limits>

#include "Eigen/Eigenvalues"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

template <typename T>
bool Solve(const DenseMatrix<T>& a, DenseMatrix<T>* v, DenseVector<double>* w) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (a.allFinite()) {
    const Eigen::SelfAdjointEigenSolver<DenseMatrix<T>> solver(a);
    if (solver.info() == Eigen::Success) {
      *v = solver.eigenvectors();
      *w = solver.eigenvalues();
      return true;
    }
  }
  *v = DenseMatrix<T>::Constant(a.rows(), a.cols(), T(kNan));
  *w = DenseVector<double>::Constant(a.rows(), kNan);
  return false;
}

}  // namespace

bool SolveSelfAdjoint(const DenseMatrix<double>& a, DenseMatrix<double>* v, DenseVector<double>* w) {
  return Solve(a, v, w);
}

bool SolveSelfAdjoint(const DenseMatrix<complex128>& a, DenseMatrix<complex128>* v, DenseVector<double>* w) {
  return Solve(a, v, w);
}

}  // namespace toroid
