#include "runtime/kernels/linear_algebra/decompositions.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "Eigen/Cholesky"
#include "Eigen/Householder"
#include "Eigen/QR"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/custom_config.h"
#include "runtime/kernels/linear_algebra/matrix_batches.h"
#include "runtime/kernels/linear_algebra/self_adjoint.h"

namespace toroid {
namespace {

template <typename T>
using Matrix = DenseMatrix<T>;
template <typename T>
using Vector = DenseVector<T>;
using Batches = MatrixBatches;

// Operand 1 must have one vector per matrix of operand 0.
bool SameBatches(const OpCall& call) {
  const auto matrices = call.operand_shape(0).dims(), vectors = call.operand_shape(1).dims();
  return matrices.first(matrices.size() - 2) == vectors.first(vectors.size() - 1);
}

// Gaussian elimination with partial pivoting: the largest element of each column is the pivot.
template <typename T>
void Eliminate(Matrix<T>& a, std::vector<int32_t>& pivots, std::vector<int32_t>& permutation) {
  for (int32_t i = 0; i < a.rows(); ++i) permutation[i] = i;
  for (int32_t k = 0; k < static_cast<int32_t>(pivots.size()); ++k) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < a.rows(); ++i) {
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    }
    pivots[k] = pivot;
    std::swap(permutation[k], permutation[pivot]);
    if (pivot != k) a.row(k).swap(a.row(pivot));
    if (a(k, k) == T(0)) continue;
    for (int32_t i = k + 1; i < a.rows(); ++i) {
      a(i, k) /= a(k, k);
      for (int32_t j = k + 1; j < a.cols(); ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
}

}  // namespace

absl::Status CholeskyCall(OpCall& call) {
  ASSIGN_OR_RETURN(Batches batches, SquareMatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t n = batches.n;
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  const auto option = FindOption(call.instruction().backend_config(), "lower");
  const bool lower = !option || option->empty() || (*option)[0] != 0;
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    if (!lower) a = a.adjoint().eval();
    Eigen::LLT<Matrix<T>, Eigen::Lower> llt(a);
    Matrix<T> l = llt.matrixL();
    if (llt.info() != Eigen::Success) l.fill(T(std::numeric_limits<double>::quiet_NaN()));
    if (!lower) l = l.adjoint().eval();
    batches.Write(0, i, l.data(), n * n);
  });
}

absl::Status EighCall(OpCall& call) {
  ASSIGN_OR_RETURN(Batches batches, SquareMatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t n = batches.n;
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(RealTypeOf(type), {n}));
  const bool upper = absl::StartsWith(call.instruction().backend_config(), "0");
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    if (upper) a = a.adjoint().eval();
    Matrix<T> v(n, n);
    Vector<double> w(n);
    if (n > 0) SolveSelfAdjoint(a, &v, &w);
    batches.Write(0, i, v.data(), n * n);
    batches.Write(1, i, w.data(), n);
  });
}

absl::Status QrCall(OpCall& call) {
  ASSIGN_OR_RETURN(Batches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(type, {k}));
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    if (k == 0) return;
    const Eigen::HouseholderQR<Matrix<T>> qr(a);
    const Matrix<T> packed = qr.matrixQR();
    // Eigen's reflectors are the adjoints of LAPACK's.
    const Vector<T> taus = qr.hCoeffs().conjugate();
    batches.Write(0, i, packed.data(), m * n);
    batches.Write(1, i, taus.data(), k);
  });
}

absl::Status HouseholderProductCall(OpCall& call) {
  ASSIGN_OR_RETURN(Batches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t m = batches.m, n = batches.n;
  if (call.num_operands() != 2 || call.operand_shape(1).rank() != call.operand_shape(0).rank() - 1 ||
      !SameBatches(call) || call.operand_shape(1).element_type() != type || m < n) {
    return absl::InvalidArgumentError(
        "takes matrices of at least as many rows as columns, and a vector of factors for each");
  }
  const int64_t k = call.operand_shape(1).dims().back();
  if (k > n) return absl::InvalidArgumentError(absl::StrCat(k, " reflectors for ", n, " columns"));
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  return ForEachMatrix(batches, [&](int64_t i, auto& packed) {
    using T = ScalarOf<decltype(packed)>;
    Vector<T> taus(k);
    batches.Read(1, i, taus.data(), k);
    Matrix<T> q = Matrix<T>::Identity(m, n);
    for (int64_t r = k - 1; r >= 0; --r) {
      Vector<T> v = Vector<T>::Zero(m);
      v(r) = T(1);
      for (int64_t row = r + 1; row < m; ++row) v(row) = packed(row, r);
      q -= taus(r) * v * (v.adjoint() * q);
    }
    batches.Write(0, i, q.data(), m * n);
  });
}

absl::Status LuCall(OpCall& call) {
  ASSIGN_OR_RETURN(Batches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(xla::S32, {k}));
  RETURN_IF_ERROR(batches.AddResult(xla::S32, {m}));
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    std::vector<int32_t> pivots(k), permutation(m);
    Eliminate(a, pivots, permutation);
    batches.Write(0, i, a.data(), m * n);
    batches.Write(1, i, pivots.data(), k);
    batches.Write(2, i, permutation.data(), m);
  });
}

}  // namespace toroid
