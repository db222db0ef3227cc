// Singular values of lapack.h.
#include <algorithm>
#include <limits>

#include "Eigen/Core"
#include "Eigen/SVD"
#include "runtime/kernels/linear_algebra/lapack_calls.h"

namespace toroid {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

absl::Status GesddCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  const char mode = LetterOption(call, "mode", 'A');
  const int64_t columns = mode == 'S' ? k : m, rows = mode == 'S' ? k : n;
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(RealTypeOf(type), {k}));
  RETURN_IF_ERROR(batches.AddResult(type, {m, columns}));
  RETURN_IF_ERROR(batches.AddResult(type, {rows, n}));
  RETURN_IF_ERROR(AddInfo(batches));
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    DenseMatrix<T> u(m, columns), vt(rows, n);
    DenseVector<double> s = DenseVector<double>::Constant(k, kNan);
    // Vectors that are not asked for are zero; those of an empty matrix are the identity's.
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
      const Eigen::JacobiSVD<Plain> svd(a, options);
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
  });
}

}  // namespace toroid
