// Factorizations and linear systems of lapack.h.
#include <algorithm>

#include "Eigen/Core"
#include "runtime/kernels/linear_algebra/lapack_calls.h"

namespace toroid {
namespace {

// Applies Q = H_0 * H_1 * .., given by packed reflectors, from the left: matrix becomes Q * matrix, or Q^H *
// matrix.
template <typename T>
void ApplyReflectors(const DenseMatrix<T>& packed, const DenseVector<T>& taus, bool adjoint,
                     DenseMatrix<T>* matrix) {
  const int64_t k = taus.size();
  for (int64_t step = 0; step < k; ++step) {
    const int64_t r = adjoint ? step : k - 1 - step;
    DenseVector<T> v = DenseVector<T>::Zero(packed.rows());
    v(r) = T(1);
    v.tail(packed.rows() - r - 1) = packed.col(r).tail(packed.rows() - r - 1);
    const T tau = adjoint ? Conj(taus(r)) : taus(r);
    *matrix -= (tau * v) * (v.adjoint() * *matrix).eval();
  }
}

// Zeroes column j of a below the diagonal and applies the reflector to the columns after it.
template <typename T>
T ReduceColumn(DenseMatrix<T>& a, int64_t j) {
  const int64_t rows = a.rows() - j, columns = a.cols() - j - 1;
  const T tau = MakeReflector(&a(j, j), a.col(j).tail(rows - 1));
  DenseVector<T> v = a.col(j).tail(rows);
  v(0) = T(1);
  auto rest = a.bottomRightCorner(rows, columns);
  rest -= (Conj(tau) * v) * (v.adjoint() * rest).eval();
  return tau;
}

}  // namespace

absl::Status PotrfCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, SquareMatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t n = batches.n;
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  RETURN_IF_ERROR(AddInfo(batches));
  const bool lower = LetterOption(call, "uplo", 'L') == 'L';
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    DenseMatrix<T> l = lower ? a : DenseMatrix<T>(a.adjoint());
    int32_t info = 0;
    for (int64_t j = 0; j < n && info == 0; ++j) {
      const double pivot = std::real(l(j, j)) - l.row(j).head(j).squaredNorm();
      if (!(pivot > 0)) {
        info = static_cast<int32_t>(j + 1);
        break;
      }
      l(j, j) = T(std::sqrt(pivot));
      for (int64_t r = j + 1; r < n; ++r) {
        l(r, j) = (l(r, j) - T(l.row(j).head(j).dot(l.row(r).head(j)))) / l(j, j);
      }
    }
    // The other triangle keeps its values.
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t c = 0; c <= r; ++c) (lower ? a(r, c) : a(c, r)) = lower ? l(r, c) : Conj(l(r, c));
    }
    batches.Write(0, i, a.data(), n * n);
    WriteInfo(batches, 1, i, info);
  });
}

absl::Status TrsmCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, SquareMatricesOf(call));
  const PrimitiveType type = batches.type();
  const bool left = LetterOption(call, "side", 'L') == 'L', lower = LetterOption(call, "uplo", 'L') == 'L',
             unit = LetterOption(call, "diag", 'N') == 'U';
  const char transpose = LetterOption(call, "trans_x", 'N');
  const int64_t order = batches.n;
  if (call.num_operands() < 2 || call.operand_shape(1).rank() < 2) {
    return absl::InvalidArgumentError("operand 1 is no array of matrices");
  }
  const auto dims = call.operand_shape(1).dims();
  const int64_t m = dims[dims.size() - 2], n = dims.back();
  RETURN_IF_ERROR(batches.CheckOperand(1, {left ? order : m, left ? n : order}, type));
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    DenseMatrix<T> b(m, n);
    batches.Read(1, i, b.data(), m * n);
    // op(a); transposing swaps its triangle. x * op(a) = b is op(a)^T * x^T = b^T.
    DenseMatrix<T> op = transpose == 'N'   ? a
                        : transpose == 'T' ? DenseMatrix<T>(a.transpose())
                                           : DenseMatrix<T>(a.adjoint());
    bool is_lower = lower == (transpose == 'N');
    if (!left) {
      op.transposeInPlace();
      b = b.transpose().eval();
      is_lower = !is_lower;
    }
    if (is_lower) {
      unit ? op.template triangularView<Eigen::UnitLower>().solveInPlace(b)
           : op.template triangularView<Eigen::Lower>().solveInPlace(b);
    } else {
      unit ? op.template triangularView<Eigen::UnitUpper>().solveInPlace(b)
           : op.template triangularView<Eigen::Upper>().solveInPlace(b);
    }
    if (!left) b = b.transpose().eval();
    batches.Write(0, i, b.data(), m * n);
  });
}

absl::Status GetrfCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(xla::S32, {k}));
  RETURN_IF_ERROR(AddInfo(batches));
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    std::vector<int32_t> pivots(k);
    int32_t info = 0;
    for (int64_t j = 0; j < k; ++j) {
      int64_t pivot = j;
      for (int64_t r = j + 1; r < m; ++r) {
        // LAPACK measures complex numbers by |re| + |im|.
        if (Magnitude(a(r, j)) > Magnitude(a(pivot, j))) pivot = r;
      }
      pivots[j] = static_cast<int32_t>(pivot + 1);
      if (pivot != j) a.row(j).swap(a.row(pivot));
      if (a(j, j) == T(0)) {
        if (info == 0) info = static_cast<int32_t>(j + 1);
        continue;
      }
      a.col(j).tail(m - j - 1) /= a(j, j);
      a.bottomRightCorner(m - j - 1, n - j - 1) -=
          (a.col(j).tail(m - j - 1) * a.row(j).tail(n - j - 1)).eval();
    }
    batches.Write(0, i, a.data(), m * n);
    batches.Write(1, i, pivots.data(), k);
    WriteInfo(batches, 2, i, info);
  });
}

absl::Status GeqrfCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(type, {k}));
  RETURN_IF_ERROR(AddInfo(batches));
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    DenseVector<T> taus(k);
    for (int64_t j = 0; j < k; ++j) taus(j) = ReduceColumn(a, j);
    batches.Write(0, i, a.data(), m * n);
    batches.Write(1, i, taus.data(), k);
    WriteInfo(batches, 2, i, 0);
  });
}

absl::Status Geqp3Call(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  RETURN_IF_ERROR(batches.CheckOperand(1, {n}, xla::S32));
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(xla::S32, {n}));
  RETURN_IF_ERROR(batches.AddResult(type, {k}));
  RETURN_IF_ERROR(AddInfo(batches));
  return ForEachMatrix(batches, [&](int64_t i, auto& a) {
    using T = ScalarOf<decltype(a)>;
    DenseVector<T> taus(k);
    std::vector<int32_t> fixed(n), columns(n);
    batches.Read(1, i, fixed.data(), n);
    for (int64_t j = 0; j < n; ++j) columns[j] = static_cast<int32_t>(j + 1);
    // Columns whose mark is not 0 stay in front.
    int64_t first = 0;
    const auto swap_columns = [&](int64_t to, int64_t from) {
      if (to == from) return;
      a.col(to).swap(a.col(from));
      std::swap(columns[to], columns[from]);
    };
    for (int64_t j = 0; j < n; ++j) {
      if (fixed[j] != 0) swap_columns(first++, j);
    }
    for (int64_t j = 0; j < k; ++j) {
      int64_t longest = j;
      for (int64_t c = j + 1; j >= first && c < n; ++c) {
        if (a.col(c).tail(m - j).norm() > a.col(longest).tail(m - j).norm() * (1 + 1e-14)) longest = c;
      }
      swap_columns(j, longest);
      taus(j) = ReduceColumn(a, j);
    }
    batches.Write(0, i, a.data(), m * n);
    batches.Write(1, i, columns.data(), n);
    batches.Write(2, i, taus.data(), k);
    WriteInfo(batches, 3, i, 0);
  });
}

absl::Status OrgqrCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t m = batches.m, n = batches.n;
  if (call.num_operands() != 2 || call.operand_shape(1).rank() < 1) {
    return absl::InvalidArgumentError("takes matrices, and a vector of factors for each");
  }
  const int64_t k = call.operand_shape(1).dims().back();
  RETURN_IF_ERROR(batches.CheckOperand(1, {k}, type));
  if (k > n || n > m) {
    return absl::InvalidArgumentError(absl::StrCat(k, " reflectors for ", m, " x ", n, " matrices"));
  }
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(AddInfo(batches));
  return ForEachMatrix(batches, [&](int64_t i, auto& packed) {
    using T = ScalarOf<decltype(packed)>;
    DenseVector<T> taus(k);
    batches.Read(1, i, taus.data(), k);
    DenseMatrix<T> q = DenseMatrix<T>::Identity(m, n);
    ApplyReflectors(packed, taus, /*adjoint=*/false, &q);
    batches.Write(0, i, q.data(), m * n);
    WriteInfo(batches, 1, i, 0);
  });
}

absl::Status OrmqrCall(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, MatricesOf(call));
  const PrimitiveType type = batches.type();
  const int64_t order = batches.m, columns = batches.n;
  if (call.num_operands() != 3 || call.operand_shape(1).rank() < 1 || call.operand_shape(2).rank() < 2) {
    return absl::InvalidArgumentError(
        "takes matrices, a vector of factors for each, and matrices to multiply");
  }
  const int64_t k = call.operand_shape(1).dims().back();
  const auto dims = call.operand_shape(2).dims();
  const int64_t m = dims[dims.size() - 2], n = dims.back();
  const absl::string_view config = call.instruction().backend_config();
  ASSIGN_OR_RETURN(const int64_t left, IntOption(config, "left"));
  ASSIGN_OR_RETURN(const int64_t transpose, IntOption(config, "transpose"));
  RETURN_IF_ERROR(batches.CheckOperand(1, {k}, type));
  RETURN_IF_ERROR(batches.CheckOperand(2, {left ? order : m, left ? n : order}, type));
  if (k > columns || k > order) {
    return absl::InvalidArgumentError(absl::StrCat(k, " reflectors in ", order, " x ", columns, " matrices"));
  }
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(AddInfo(batches));
  return ForEachMatrix(batches, [&](int64_t i, auto& packed) {
    using T = ScalarOf<decltype(packed)>;
    DenseMatrix<T> c(m, n);
    DenseVector<T> taus(k);
    batches.Read(1, i, taus.data(), k);
    batches.Read(2, i, c.data(), m * n);
    // c * Q = (Q^H * c^H)^H.
    DenseMatrix<T> product = left ? c : DenseMatrix<T>(c.adjoint());
    ApplyReflectors(packed, taus, left ? transpose != 0 : transpose == 0, &product);
    c = left ? product : DenseMatrix<T>(product.adjoint());
    batches.Write(0, i, c.data(), m * n);
    WriteInfo(batches, 1, i, 0);
  });
}

// Gaussian elimination of rows r and r + 1, with the larger one first; the fill-in is returned in dl.
absl::Status GtsvCall(OpCall& call) {
  MatrixBatches batches(call);
  RETURN_IF_ERROR(batches.ReadShape(/*rank=*/1));
  const PrimitiveType type = batches.type();
  const int64_t n = batches.n;
  if (call.num_operands() != 4 || call.operand_shape(3).rank() < 2) {
    return absl::InvalidArgumentError("takes three diagonals and matrices of right sides");
  }
  const int64_t columns = call.operand_shape(3).dims().back();
  RETURN_IF_ERROR(batches.CheckOperand(1, {n}, type));
  RETURN_IF_ERROR(batches.CheckOperand(2, {n}, type));
  RETURN_IF_ERROR(batches.CheckOperand(3, {n, columns}, type));
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(batches.AddResult(type, {n}));
  RETURN_IF_ERROR(batches.AddResult(type, {n, columns}));
  RETURN_IF_ERROR(AddInfo(batches));
  return ForEachMatrix(batches, [&](int64_t i, auto& diagonal) {
    using T = ScalarOf<decltype(diagonal)>;
    DenseVector<T> dl = diagonal.row(0), d(n), du(n);
    DenseMatrix<T> x(n, columns);
    batches.Read(1, i, d.data(), n);
    batches.Read(2, i, du.data(), n);
    batches.Read(3, i, x.data(), n * columns);
    // dl[r + 1] is left of d[r + 1]; `fill` is the second diagonal above.
    DenseVector<T> fill = DenseVector<T>::Zero(n);
    int32_t info = 0;
    for (int64_t r = 0; r + 1 < n; ++r) {
      if (Magnitude(d(r)) >= Magnitude(dl(r + 1))) {
        if (d(r) == T(0)) {
          info = static_cast<int32_t>(r + 1);
          break;
        }
        const T factor = dl(r + 1) / d(r);
        d(r + 1) -= factor * du(r);
        x.row(r + 1) -= factor * x.row(r);
      } else {
        const T factor = d(r) / dl(r + 1), above = du(r);
        d(r) = dl(r + 1);
        du(r) = d(r + 1);
        d(r + 1) = above - factor * d(r + 1);
        if (r + 2 < n) {
          fill(r) = du(r + 1);
          du(r + 1) = -factor * du(r + 1);
        }
        const Eigen::Matrix<T, 1, Eigen::Dynamic> row = x.row(r);
        x.row(r) = x.row(r + 1);
        x.row(r + 1) = row - factor * x.row(r + 1);
      }
    }
    if (info == 0 && n > 0 && d(n - 1) == T(0)) info = static_cast<int32_t>(n);
    for (int64_t r = n - 1; r >= 0 && info == 0; --r) {
      if (r + 1 < n) x.row(r) -= du(r) * x.row(r + 1);
      if (r + 2 < n) x.row(r) -= fill(r) * x.row(r + 2);
      x.row(r) /= d(r);
    }
    batches.Write(0, i, fill.data(), n);
    batches.Write(1, i, d.data(), n);
    batches.Write(2, i, du.data(), n);
    batches.Write(3, i, x.data(), n * columns);
    WriteInfo(batches, 4, i, info);
  });
}

}  // namespace toroid
