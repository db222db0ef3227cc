// Hessenberg and tridiagonal forms of lapack.h.
#include <algorithm>

#include "Eigen/Core"
#include "runtime/kernels/linear_algebra/lapack_calls.h"

namespace toroid {

absl::Status GehrdCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, SquareMatricesOf(call));
  const PrimitiveType type = batches.type();
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
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
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
  });
}

absl::Status SytrdCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, SquareMatricesOf(call));
  const PrimitiveType type = batches.type(), real = RealTypeOf(type);
  const int64_t n = batches.n, count = std::max<int64_t>(0, n - 1);
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(real, {n}));
  RETURN_IF_ERROR(batches.AddResult(real, {count}));
  RETURN_IF_ERROR(batches.AddResult(type, {count}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool lower = LetterOption(call, "uplo", 'L') == 'L';
  return ForEachMatrix(batches, [&](int64_t i, auto& input) {
    using T = ScalarOf<decltype(input)>;
    // The full matrix from its triangle. The upper triangle is reduced as the lower one, with rows and
    // columns in reverse order.
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
    // The other triangle keeps its values.
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
  });
}

}  // namespace toroid
