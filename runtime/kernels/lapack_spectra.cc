// Eigenvalues, singular values and the forms on the way to them, of lapack.h.
#include <algorithm>
#include <limits>
#include <utility>

#include "Eigen/Core"
#include "Eigen/Eigenvalues"
#include "Eigen/LU"
#include "Eigen/SVD"
#include "runtime/kernels/lapack_calls.h"

namespace toroid {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Vectors of length 1 whose largest element is real and, of complex matrices, positive.
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

// Two real eigenvalues or a pair of conjugates: makes the diagonal of the block at i equal, by a rotation.
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

// Real and imaginary parts as results `number` and `number` + 1, or complex numbers as one.
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
  MatrixBatches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  RETURN_IF_ERROR(CheckSquare(batches));
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t n = batches.n;
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(RealTypeOf(type), {n}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool lower = LetterOption(call, "uplo", 'L') == 'L';
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    DenseMatrix<T> a(n, n), v(n, n);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, a.data(), n * n);
      if (!lower) a = a.adjoint().eval();
      DenseVector<double> w = DenseVector<double>::Constant(n, kNan);
      v.fill(T(kNan));
      int32_t info = n > 0;
      if (n > 0 && a.allFinite()) {
        const Eigen::SelfAdjointEigenSolver<DenseMatrix<T>> solver(a);
        if (solver.info() == Eigen::Success) {
          info = 0;
          v = solver.eigenvectors();
          w = solver.eigenvalues();
        }
      }
      batches.Write(0, i, v.data(), n * n);
      batches.Write(1, i, w.data(), n);
      WriteInfo(batches, 2, i, info);
    }
    return batches.Finish();
  });
}

absl::Status GesddCall(OpCall& call) {
  MatrixBatches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  const char mode = LetterOption(call, "mode", 'A');
  const int64_t columns = mode == 'S' ? k : m, rows = mode == 'S' ? k : n;
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(RealTypeOf(type), {k}));
  RETURN_IF_ERROR(batches.AddResult(type, {m, columns}));
  RETURN_IF_ERROR(batches.AddResult(type, {rows, n}));
  RETURN_IF_ERROR(AddInfo(batches));
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    DenseMatrix<T> a(m, n), u(m, columns), vt(rows, n);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, a.data(), m * n);
      DenseVector<double> s = DenseVector<double>::Constant(k, kNan);
      // Vectors that are not asked for are zero; of an empty matrix they are those of the identity.
      u.setIdentity();
      vt.setIdentity();
      if (mode == 'N') {
        u.setZero();
        vt.setZero();
      }
      int32_t info = 0;
      if (!a.allFinite()) {
        info = -4;
        u.fill(T(kNan));
        vt.fill(T(kNan));
      } else if (k > 0) {
        const unsigned options = mode == 'N'   ? 0
                                 : mode == 'S' ? Eigen::ComputeThinU | Eigen::ComputeThinV
                                               : Eigen::ComputeFullU | Eigen::ComputeFullV;
        using Plain = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
        const Eigen::BDCSVD<Plain> svd(a, options);
        s = svd.singularValues();
        if (mode != 'N') {
          u = svd.matrixU();
          vt = svd.matrixV().adjoint();
        }
      }
      batches.Write(0, i, a.data(), m * n);
      batches.Write(1, i, s.data(), k);
      batches.Write(2, i, u.data(), m * columns);
      batches.Write(3, i, vt.data(), rows * n);
      WriteInfo(batches, 4, i, info);
    }
    return batches.Finish();
  });
}

absl::Status GeevCall(OpCall& call) {
  MatrixBatches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  RETURN_IF_ERROR(CheckSquare(batches));
  const PrimitiveType type = call.operand_shape(0).element_type(), complex = IsComplex(type)    ? type
                                                                             : type == xla::F64 ? xla::C128
                                                                                                : xla::C64;
  const int64_t n = batches.n;
  for (int i = 0; i < (IsComplex(type) ? 1 : 2); ++i) RETURN_IF_ERROR(batches.AddResult(type, {n}));
  RETURN_IF_ERROR(batches.AddResult(complex, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(complex, {n, n}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool left = LetterOption(call, "compute_left", 'N') == 'V',
             right = LetterOption(call, "compute_right", 'V') == 'V';
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    using Plain = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using Solver = std::conditional_t<IsComplexType<T>::value, Eigen::ComplexEigenSolver<Plain>,
                                      Eigen::EigenSolver<Plain>>;
    DenseMatrix<T> a(n, n);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, a.data(), n * n);
      DenseVector<complex128> w = DenseVector<complex128>::Constant(n, complex128(kNan, kNan));
      DenseMatrix<complex128> vr = DenseMatrix<complex128>::Constant(n, n, complex128(kNan, kNan)), vl = vr;
      int32_t info = n > 0;
      if (n > 0 && a.allFinite()) {
        const Solver solver(a, left || right);
        if (solver.info() == Eigen::Success) {
          info = 0;
          w = solver.eigenvalues();
          if (left || right) vr = solver.eigenvectors();
          // Rows of the inverse are left eigenvectors.
          if (left) vl = vr.adjoint().fullPivLu().inverse();
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
    }
    return batches.Finish();
  });
}

absl::Status GeesCall(OpCall& call) {
  MatrixBatches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  RETURN_IF_ERROR(CheckSquare(batches));
  if (LetterOption(call, "sort", 'N') != 'N') {
    return absl::UnimplementedError("a Schur form with sorted eigenvalues; leave the sorting out");
  }
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t n = batches.n;
  for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  for (int i = 0; i < (IsComplex(type) ? 1 : 2); ++i) RETURN_IF_ERROR(batches.AddResult(type, {n}));
  RETURN_IF_ERROR(batches.AddResult(xla::S32, {}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool vectors = LetterOption(call, "mode", 'V') == 'V';
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    DenseMatrix<T> a(n, n);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, a.data(), n * n);
      SchurForm<T> form = Schur(a);
      if (!vectors) form.z.setZero();
      batches.Write(0, i, form.t.data(), n * n);
      batches.Write(1, i, form.z.data(), n * n);
      const int number = WriteEigenvalues<T>(batches, 2, i, form.w);
      const int32_t selected = 0;
      batches.Write(number, i, &selected, 1);
      WriteInfo(batches, number + 1, i, form.ok ? 0 : 1);
    }
    return batches.Finish();
  });
}

absl::Status GehrdCall(OpCall& call) {
  MatrixBatches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  RETURN_IF_ERROR(CheckSquare(batches));
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t n = batches.n, count = std::max<int64_t>(0, n - 1);
  const absl::string_view config = call.instruction().backend_config();
  ASSIGN_OR_RETURN(const int64_t low, IntOption(config, "low"));
  ASSIGN_OR_RETURN(const int64_t high, IntOption(config, "high"));
  if (n > 0 && (low < 1 || low > high || high > n)) {
    return absl::InvalidArgumentError(absl::StrCat("rows ", low, " to ", high, " of ", n));
  }
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(type, {count}));
  RETURN_IF_ERROR(AddInfo(batches));
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    DenseMatrix<T> a(n, n);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, a.data(), n * n);
      DenseVector<T> taus = DenseVector<T>::Zero(count);
      for (int64_t j = low - 1; j + 1 < high; ++j) {
        const int64_t rows = high - j - 1;
        const T tau = MakeReflector(&a(j + 1, j), a.col(j).segment(j + 2, rows - 1));
        DenseVector<T> v = a.col(j).segment(j + 1, rows);
        v(0) = T(1);
        auto columns = a.block(0, j + 1, high, rows);
        columns -= (columns * v).eval() * (tau * v.adjoint());
        auto lines = a.block(j + 1, j + 1, rows, n - j - 1);
        lines -= (Conj(tau) * v) * (v.adjoint() * lines).eval();
        taus(j) = tau;
      }
      batches.Write(0, i, a.data(), n * n);
      batches.Write(1, i, taus.data(), count);
      WriteInfo(batches, 2, i, 0);
    }
    return batches.Finish();
  });
}

absl::Status SytrdCall(OpCall& call) {
  MatrixBatches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  RETURN_IF_ERROR(CheckSquare(batches));
  const PrimitiveType type = call.operand_shape(0).element_type(), real = RealTypeOf(type);
  const int64_t n = batches.n, count = std::max<int64_t>(0, n - 1);
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(real, {n}));
  RETURN_IF_ERROR(batches.AddResult(real, {count}));
  RETURN_IF_ERROR(batches.AddResult(type, {count}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool lower = LetterOption(call, "uplo", 'L') == 'L';
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    DenseMatrix<T> input(n, n);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, input.data(), n * n);
      // The whole matrix of the triangle. The form of the upper triangle is that of the lower one with rows
      // and columns in reverse.
      DenseMatrix<T> a = lower ? DenseMatrix<T>(input.template selfadjointView<Eigen::Lower>())
                               : DenseMatrix<T>(input.template selfadjointView<Eigen::Upper>());
      if (!lower) a = a.reverse().eval();
      DenseVector<T> taus = DenseVector<T>::Zero(count);
      DenseVector<double> d(n), e(count);
      for (int64_t j = 0; j < count; ++j) {
        const int64_t rows = n - j - 1;
        const T tau = MakeReflector(&a(j + 1, j), a.col(j).tail(rows - 1));
        DenseVector<T> v = a.col(j).tail(rows);
        e(j) = std::real(v(0));
        v(0) = T(1);
        auto rest = a.bottomRightCorner(rows, rows);
        rest -= (Conj(tau) * v) * (v.adjoint() * rest).eval();
        rest -= (rest * v).eval() * (tau * v.adjoint());
        taus(j) = tau;
      }
      for (int64_t j = 0; j < n; ++j) d(j) = std::real(a(j, j));
      if (!lower) {
        a = a.reverse().eval();
        taus.reverseInPlace();
        d.reverseInPlace();
        e.reverseInPlace();
      }
      // The other triangle stays what it was.
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t c = 0; c < n; ++c) {
          if (lower ? c <= r : c >= r) input(r, c) = a(r, c);
        }
        input(r, r) = T(d(r));
      }
      batches.Write(0, i, input.data(), n * n);
      batches.Write(1, i, d.data(), n);
      batches.Write(2, i, e.data(), count);
      batches.Write(3, i, taus.data(), count);
      WriteInfo(batches, 4, i, 0);
    }
    return batches.Finish();
  });
}

}  // namespace toroid
