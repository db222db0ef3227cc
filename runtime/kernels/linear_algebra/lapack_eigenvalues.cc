// Eigenvalues and Schur forms of lapack.h.
#include <limits>

#include "Eigen/Core"
#include "Eigen/Eigenvalues"
#include "Eigen/LU"
#include "hlo/ir/native_types.h"
#include "runtime/kernels/linear_algebra/lapack_calls.h"
#include "runtime/kernels/linear_algebra/self_adjoint.h"

namespace toroid {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Scales each vector to length 1, with its largest element real and positive.
void Normalize(DenseMatrix<complex128>* vectors) {
  for (int64_t j = 0; j < vectors->cols(); ++j) {
    const double norm = vectors->col(j).norm();
    if (!(norm > 0)) continue;
    int64_t largest;
    vectors->col(j).cwiseAbs().maxCoeff(&largest);
    const complex128 turn = std::conj((*vectors)(largest, j)) / std::abs((*vectors)(largest, j));
    vectors->col(j) *= turn / norm;
    (*vectors)(largest, j) = (*vectors)(largest, j).real();
  }
}

// Rotates the 2 x 2 block at i, so that its diagonal elements are equal.
void StandardizeBlock(int64_t i, DenseMatrix<double>* t, DenseMatrix<double>* u) {
  const double a = (*t)(i, i), b = (*t)(i, i + 1), c = (*t)(i + 1, i), d = (*t)(i + 1, i + 1);
  if (a == d) return;
  const double sigma = b + c, difference = a - d, tau = std::hypot(sigma, difference);
  const double cosine = std::sqrt(0.5 * (1 + std::abs(sigma) / tau));
  const double sine = -(0.5 * difference / (tau * cosine)) * std::copysign(1.0, sigma);
  Eigen::JacobiRotation<double> rotation(cosine, sine);
  const auto rotate_rows = [&](auto&& x, auto&& y) {
    const auto first = (cosine * x + sine * y).eval(), second = (cosine * y - sine * x).eval();
    x = first;
    y = second;
  };
  rotate_rows(t->row(i), t->row(i + 1));
  rotate_rows(t->col(i), t->col(i + 1));
  rotate_rows(u->col(i), u->col(i + 1));
  const double mean = 0.5 * ((*t)(i, i) + (*t)(i + 1, i + 1));
  (*t)(i, i) = (*t)(i + 1, i + 1) = mean;
}

// The eigenvalues of the blocks on the diagonal of a real Schur form.
DenseVector<complex128> BlockEigenvalues(const DenseMatrix<double>& t) {
  const int64_t n = t.rows();
  DenseVector<complex128> w(n);
  for (int64_t i = 0; i < n; ++i) {
    if (i + 1 < n && t(i + 1, i) != 0) {
      const double root = std::sqrt(std::abs(t(i, i + 1))) * std::sqrt(std::abs(t(i + 1, i)));
      w(i) = complex128(t(i, i), root);
      w(i + 1) = complex128(t(i, i), -root);
      ++i;
    } else {
      w(i) = t(i, i);
    }
  }
  return w;
}

template <typename T>
struct SchurForm {
  bool ok = false;
  DenseMatrix<T> t, z;
  DenseVector<complex128> w;
};

template <typename T>
SchurForm<T> Schur(const DenseMatrix<T>& a) {
  const int64_t n = a.rows();
  SchurForm<T> form;
  form.t = DenseMatrix<T>::Constant(n, n, T(kNan));
  form.z = form.t;
  form.w = DenseVector<complex128>::Constant(n, complex128(kNan, kNan));
  if (n == 0) form.ok = true;
  if (n == 0 || !a.allFinite()) return form;
  if constexpr (IsComplexType<T>::value) {
    const Eigen::ComplexSchur<Eigen::MatrixXcd> schur(a);
    if (schur.info() != Eigen::Success) return form;
    form.t = schur.matrixT();
    form.z = schur.matrixU();
    form.w = form.t.diagonal();
  } else {
    const Eigen::RealSchur<Eigen::MatrixXd> schur(a);
    if (schur.info() != Eigen::Success) return form;
    form.t = schur.matrixT();
    form.z = schur.matrixU();
    for (int64_t i = 0; i + 1 < n; ++i) {
      if (form.t(i + 1, i) == 0) continue;
      StandardizeBlock(i, &form.t, &form.z);
      ++i;
    }
    form.w = BlockEigenvalues(form.t);
  }
  form.ok = true;
  return form;
}

// Writes real and imaginary parts as results `number` and `number` + 1, or complex numbers as one result.
template <typename T>
int WriteEigenvalues(MatrixBatches& batches, int number, int64_t index, const DenseVector<complex128>& w) {
  if constexpr (IsComplexType<T>::value) {
    batches.Write(number, index, w.data(), w.size());
    return number + 1;
  } else {
    const DenseVector<double> real = w.real(), imaginary = w.imag();
    batches.Write(number, index, real.data(), w.size());
    batches.Write(number + 1, index, imaginary.data(), w.size());
    return number + 2;
  }
}

}  // namespace

absl::Status SyevdCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, SquareMatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t n = batches.n;
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(RealTypeOf(type), {n}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool lower = LetterOption(call, "uplo", 'L') == 'L';
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    DenseMatrix<T> v(n, n);
    if (!lower) a = a.adjoint().eval();
    DenseVector<double> w(n);
    const int32_t info = n > 0 && !SolveSelfAdjoint(a, &v, &w);
    batches.Write(0, i, v.data(), n * n);
    batches.Write(1, i, w.data(), n);
    WriteInfo(batches, 2, i, info);
  });
}

absl::Status GeevCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, SquareMatricesOf(call));
  const PrimitiveType type = batches.type(), complex = IsComplex(type)    ? type
                                                       : type == xla::F64 ? xla::C128
                                                                          : xla::C64;
  const int64_t n = batches.n;
  for (int i = 0; i < (IsComplex(type) ? 1 : 2); ++i) RETURN_IF_ERROR(batches.AddResult(type, {n}));
  RETURN_IF_ERROR(batches.AddResult(complex, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(complex, {n, n}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool left = LetterOption(call, "compute_left", 'N') == 'V',
             right = LetterOption(call, "compute_right", 'V') == 'V';
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    using Plain = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using Solver = std::conditional_t<IsComplexType<T>::value, Eigen::ComplexEigenSolver<Plain>,
                                      Eigen::EigenSolver<Plain>>;
    DenseVector<complex128> w = DenseVector<complex128>::Constant(n, complex128(kNan, kNan));
    DenseMatrix<complex128> vr = DenseMatrix<complex128>::Constant(n, n, complex128(kNan, kNan)), vl = vr;
    int32_t info = n > 0;
    if (n > 0 && a.allFinite()) {
      const Solver solver(a, left || right);
      if (solver.info() == Eigen::Success) {
        info = 0;
        w = solver.eigenvalues();
        if (left || right) vr = solver.eigenvectors();
        // The rows of the inverse are the left eigenvectors.
        if (left) vl = vr.adjoint().partialPivLu().inverse();
      }
    }
    if (!left) vl.setZero();
    if (!right) vr.setZero();
    if (info == 0) {
      Normalize(&vl);
      Normalize(&vr);
    }
    int number = WriteEigenvalues<T>(batches, 0, i, w);
    batches.Write(number++, i, vl.data(), n * n);
    batches.Write(number++, i, vr.data(), n * n);
    WriteInfo(batches, number, i, info);
  });
}

absl::Status GeesCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, SquareMatricesOf(call));
  if (LetterOption(call, "sort", 'N') != 'N') {
    return absl::UnimplementedError("a Schur form with sorted eigenvalues; leave the sorting out");
  }
  const PrimitiveType type = batches.type();
  const int64_t n = batches.n;
  for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  for (int i = 0; i < (IsComplex(type) ? 1 : 2); ++i) RETURN_IF_ERROR(batches.AddResult(type, {n}));
  RETURN_IF_ERROR(batches.AddResult(xla::S32, {}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool vectors = LetterOption(call, "mode", 'V') == 'V';
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    SchurForm<T> form = Schur(a);
    if (!vectors) form.z.setZero();
    batches.Write(0, i, form.t.data(), n * n);
    batches.Write(1, i, form.z.data(), n * n);
    const int number = WriteEigenvalues<T>(batches, 2, i, form.w);
    const int32_t selected = 0;
    batches.Write(number, i, &selected, 1);
    WriteInfo(batches, number + 1, i, form.ok ? 0 : 1);
  });
}

}  // namespace toroid
