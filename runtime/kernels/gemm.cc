// BUILD: copts = ["-O3"]
#include "runtime/kernels/gemm.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "Eigen/Core"
#include "runtime/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kSmallFlops = 64 << 10;  // A task is worth about this many multiplications.
constexpr int64_t kRowBlock = 256;         // Rows of a large product that one task computes.
// Below this sum of sizes Eigen computes the coefficients one by one, in an order that depends on the alignment
// of the data: devices with the same operands would have different results.
constexpr int64_t kSmallSizes = EIGEN_GEMM_TO_COEFFBASED_THRESHOLD;

template <typename T, int kOrder>
using Matrix =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, kOrder>, 0, Eigen::OuterStride<>>;
template <typename T>
using Result = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// Integers, booleans and small products: lines of the result accumulate lines of rhs.
template <typename T>
void PlainProduct(const GemmBatch& g, const T* lhs, const T* rhs, T* out, int64_t row, int64_t rows) {
  const int64_t lhs_m = g.lhs_order == MatrixOrder::kRowMajor ? g.k : 1;
  const int64_t lhs_k = g.lhs_order == MatrixOrder::kRowMajor ? 1 : g.m;
  for (int64_t i = row; i < row + rows; ++i) {
    T* line = out + i * g.n;
    std::fill(line, line + g.n, T{0});
    for (int64_t k = 0; k < g.k; ++k) {
      const T a = lhs[i * lhs_m + k * lhs_k];
      if constexpr (std::is_integral_v<T>) {
        if (a == T{0}) continue;
      }
      if (g.rhs_order == MatrixOrder::kRowMajor) {
        const T* b = rhs + k * g.n;
        if constexpr (std::is_same_v<T, bool>) {
          for (int64_t j = 0; j < g.n; ++j) line[j] |= b[j];
        } else {
          for (int64_t j = 0; j < g.n; ++j) line[j] += a * b[j];
        }
      } else {
        for (int64_t j = 0; j < g.n; ++j) {
          if constexpr (std::is_same_v<T, bool>) {
            line[j] |= rhs[j * g.k + k];
          } else {
            line[j] += a * rhs[j * g.k + k];
          }
        }
      }
    }
  }
}

template <typename T, int kLhs, int kRhs>
void EigenProduct(const GemmBatch& g, const T* lhs, const T* rhs, T* out, int64_t row, int64_t rows) {
  if (rows + g.n + g.k < kSmallSizes) return PlainProduct(g, lhs, rhs, out, row, rows);
  const T* first = kLhs == Eigen::RowMajor ? lhs + row * g.k : lhs + row;
  const Matrix<T, kLhs> a(first, rows, g.k, Eigen::OuterStride<>(kLhs == Eigen::RowMajor ? g.k : g.m));
  const Matrix<T, kRhs> b(rhs, g.k, g.n, Eigen::OuterStride<>(kRhs == Eigen::RowMajor ? g.n : g.k));
  Result<T> c(out + row * g.n, rows, g.n);
  // A view that is a vector at compile time takes Eigen's matrix-vector path.
  if (g.n == 1) {
    c.col(0).noalias() = a * b.col(0);
  } else if (rows == 1 && g.m == 1) {
    c.row(0).noalias() = a.row(0) * b;
  } else {
    c.noalias() = a * b;
  }
}

// Rows [row, row + rows) of one product of the batch.
template <typename T>
void Product(const GemmBatch& g, const T* lhs, const T* rhs, T* out, int64_t row, int64_t rows) {
  const bool lhs_rows = g.lhs_order == MatrixOrder::kRowMajor,
             rhs_rows = g.rhs_order == MatrixOrder::kRowMajor;
  if (lhs_rows && rhs_rows)
    return EigenProduct<T, Eigen::RowMajor, Eigen::RowMajor>(g, lhs, rhs, out, row, rows);
  if (lhs_rows) return EigenProduct<T, Eigen::RowMajor, Eigen::ColMajor>(g, lhs, rhs, out, row, rows);
  if (rhs_rows) return EigenProduct<T, Eigen::ColMajor, Eigen::RowMajor>(g, lhs, rhs, out, row, rows);
  EigenProduct<T, Eigen::ColMajor, Eigen::ColMajor>(g, lhs, rhs, out, row, rows);
}

template <typename T, void (*kProduct)(const GemmBatch&, const T*, const T*, T*, int64_t, int64_t)>
void RunBatch(const GemmBatch& g, const void* lhs_data, const void* rhs_data, void* out_data) {
  const T* lhs = static_cast<const T*>(lhs_data);
  const T* rhs = static_cast<const T*>(rhs_data);
  T* out = static_cast<T*>(out_data);
  if (g.batch == 0 || g.m == 0 || g.n == 0) return;
  if (g.k == 0) {
    std::fill(out, out + g.batch * g.m * g.n, T{});
    return;
  }
  // Tasks are blocks of rows of one product; their borders depend on the sizes alone.
  const int64_t row_flops = std::max<int64_t>(1, g.n * g.k);
  const int64_t blocks = g.m * row_flops < 16 * kSmallFlops ? 1 : (g.m + kRowBlock - 1) / kRowBlock;
  const int64_t block_rows = (g.m + blocks - 1) / blocks;
  const int64_t grain = std::max<int64_t>(1, kSmallFlops / (block_rows * row_flops));
  ParallelFor(g.batch * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / blocks, row = task % blocks * block_rows;
      const int64_t rows = std::min(block_rows, g.m - row);
      if (rows <= 0) continue;
      kProduct(g, lhs + b * g.lhs_stride, rhs + b * g.rhs_stride, out + b * g.m * g.n, row, rows);
    }
  });
}

}  // namespace

PrimitiveType GemmType(PrimitiveType operands, PrimitiveType result) {
  if (IsComplex(result)) return result;
  if (IsComplex(operands)) return operands;
  if (result == xla::F64 || operands == xla::F64) return xla::F64;
  if (IsFloat(result) || IsFloat(operands)) return xla::F32;
  if (result == xla::PRED) return xla::PRED;
  return BitWidth(result) > 32 ? xla::U64 : xla::U32;
}

void Gemm(PrimitiveType type, const GemmBatch& gemm, const void* lhs, const void* rhs, void* out) {
  switch (type) {
    case xla::F32:
      return RunBatch<float, Product<float>>(gemm, lhs, rhs, out);
    case xla::F64:
      return RunBatch<double, Product<double>>(gemm, lhs, rhs, out);
    case xla::C64:
      return RunBatch<complex64, Product<complex64>>(gemm, lhs, rhs, out);
    case xla::C128:
      return RunBatch<complex128, Product<complex128>>(gemm, lhs, rhs, out);
    case xla::U64:
      return RunBatch<uint64_t, PlainProduct<uint64_t>>(gemm, lhs, rhs, out);
    case xla::PRED:
      return RunBatch<bool, PlainProduct<bool>>(gemm, lhs, rhs, out);
    default:
      return RunBatch<uint32_t, PlainProduct<uint32_t>>(gemm, lhs, rhs, out);
  }
}

}  // namespace toroid
