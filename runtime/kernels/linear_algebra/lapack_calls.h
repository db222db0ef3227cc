// The kernels behind lapack.h, and helpers that they share.
//
// BUILD: srcs += "lapack_eigenvalues.cc", "lapack_factors.cc", "lapack_reductions.cc", "lapack_svd.cc"
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "hlo/ir/native_types.h"
#include "runtime/kernels/custom_config.h"
#include "runtime/kernels/linear_algebra/matrix_batches.h"
#include "runtime/loops/convert_value.h"

namespace toroid {

// Factorizations and systems, lapack_factors.cc.
absl::Status PotrfCall(OpCall& call);
absl::Status TrsmCall(OpCall& call);
absl::Status GetrfCall(OpCall& call);
absl::Status GeqrfCall(OpCall& call);
absl::Status Geqp3Call(OpCall& call);
absl::Status OrgqrCall(OpCall& call);
absl::Status OrmqrCall(OpCall& call);
absl::Status GtsvCall(OpCall& call);
// Eigenvalues and Schur forms, lapack_eigenvalues.cc.
absl::Status SyevdCall(OpCall& call);
absl::Status GeevCall(OpCall& call);
absl::Status GeesCall(OpCall& call);
// Singular values, lapack_svd.cc.
absl::Status GesddCall(OpCall& call);
// Reductions to Hessenberg and tridiagonal form, lapack_reductions.cc.
absl::Status GehrdCall(OpCall& call);
absl::Status SytrdCall(OpCall& call);

template <typename T>
T Conj(T x) {
  if constexpr (IsComplexType<T>::value) {
    return std::conj(x);
  } else {
    return x;
  }
}

// The magnitude by which LAPACK compares pivots.
template <typename T>
double Magnitude(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// The reflector H = I - tau * (1, v) * (1, v)^H with H^H * (alpha, x) = (beta, 0) and real beta. Overwrites x
// by v and alpha by beta. As LAPACK's larfg.
template <typename T, typename X>
T MakeReflector(T* alpha, X&& x) {
  const double norm = x.norm(), imaginary = std::imag(*alpha);
  if (norm == 0 && imaginary == 0) return T(0);
  const double beta =
      -std::copysign(std::hypot(std::hypot(std::real(*alpha), imaginary), norm), std::real(*alpha));
  const T tau = (T(beta) - *alpha) / T(beta);
  x /= *alpha - T(beta);
  *alpha = T(beta);
  return tau;
}

// An option that is a letter, such as 'L'; `otherwise` if it is left out.
inline char LetterOption(const OpCall& call, absl::string_view key, char otherwise) {
  const auto values = FindOption(call.instruction().backend_config(), key);
  return values.has_value() && values->size() == 1 ? static_cast<char>((*values)[0]) : otherwise;
}

// Adds the result s32 info if the call declares one more result.
inline absl::Status AddInfo(MatrixBatches& batches) {
  return batches.num_results() < batches.num_declared() ? batches.AddResult(xla::S32, {}) : absl::OkStatus();
}
// Writes to result `number`, if there is one.
inline void WriteInfo(MatrixBatches& batches, int number, int64_t index, int32_t info) {
  if (number < batches.num_results()) batches.Write(number, index, &info, 1);
}

}  // namespace toroid
