#include "runtime/kernels/linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

template <typename T>
T Conjugate(T x) {
  if constexpr (IsComplexType<T>::value) {
    return std::conj(x);
  } else {
    return x;
  }
}

template <typename T>
auto RealPart(T x) {
  if constexpr (IsComplexType<T>::value) {
    return x.real();
  } else {
    return x;
  }
}

// Row by row: l[i][j] = (a[i][j] - sum over k < j of l[i][k] * conj(l[j][k])) / l[j][j].
template <typename T>
void CholeskyFactor(const T* a, int64_t n, bool lower, T* out) {
  std::vector<T> l(n * n, T(0));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      T sum = lower ? a[i * n + j] : Conjugate(a[j * n + i]);
      for (int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * Conjugate(l[j * n + k]);
      l[i * n + j] = i == j ? T(std::sqrt(RealPart(sum))) : sum / l[j * n + j];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = lower ? l[i * n + j] : Conjugate(l[j * n + i]);
  }
}

struct SolveOptions {
  bool lower, unit_diagonal, transpose, conjugate;
};

// Solves op(a) * x = b for b [m, n]; x replaces b, one line after another.
template <typename T>
void SolveLeft(const T* a, int64_t m, T* b, int64_t n, const SolveOptions& options) {
  const bool forward = options.lower != options.transpose;
  const auto at = [&](int64_t i, int64_t j) {
    const T value = options.transpose ? a[j * m + i] : a[i * m + j];
    return options.conjugate ? Conjugate(value) : value;
  };
  for (int64_t step = 0; step < m; ++step) {
    const int64_t i = forward ? step : m - 1 - step;
    T* line = b + i * n;
    for (int64_t other = 0; other < step; ++other) {
      const int64_t j = forward ? other : m - 1 - other;
      const T factor = at(i, j);
      const T* x = b + j * n;
      for (int64_t k = 0; k < n; ++k) line[k] -= factor * x[k];
    }
    if (options.unit_diagonal) continue;
    const T diagonal = at(i, i);
    for (int64_t k = 0; k < n; ++k) line[k] /= diagonal;
  }
}

template <typename T>
void Transpose(const T* in, int64_t rows, int64_t columns, T* out) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) out[j * rows + i] = in[i * columns + j];
  }
}

// x * op(a) = b is op(a)^T * x^T = b^T.
template <typename T>
void Solve(const T* a, const T* b, int64_t rows, int64_t columns, bool left, SolveOptions options, T* out) {
  if (left) {
    std::copy_n(b, rows * columns, out);
    SolveLeft(a, rows, out, columns, options);
    return;
  }
  std::vector<T> transposed(rows * columns);
  Transpose(b, rows, columns, transposed.data());
  options.transpose = !options.transpose;
  SolveLeft(a, columns, transposed.data(), rows, options);
  Transpose(transposed.data(), columns, rows, out);
}

// Calls f(tag) with the type to compute in: f32 for narrow floats.
template <typename F>
absl::Status WithComputeType(PrimitiveType type, F&& f) {
  switch (type) {
    case xla::F64:
      return f(TypeTag<double>{});
    case xla::C64:
      return f(TypeTag<complex64>{});
    case xla::C128:
      return f(TypeTag<complex128>{});
    default:
      if (IsFloat(type)) return f(TypeTag<float>{});
      return absl::UnimplementedError(absl::StrCat("not defined on ", TypeName(type)));
  }
}

// Reads matrix number `index` of row `row` of operand i, which has `size` elements, and converts it.
template <typename T>
void ReadMatrix(const OpCall& call, int i, int64_t row, int64_t index, int64_t size, std::vector<T>* out) {
  const Shape& shape = call.operand_shape(i);
  const int64_t at = (call.uniform(i) ? 0 : row) * shape.NumElements() + index * size;
  out->resize(size);
  FindConvertLoop(shape.element_type(), PrimitiveTypeOf<T>::value)(
      call.data(i) + at * ByteWidth(shape.element_type()), out->data(), size);
}

// Checks memory for `elements` of scratch for each matrix worked on at a time.
template <typename T>
absl::Status CheckScratch(const OpCall& call, int64_t matrices, int64_t elements) {
  return call.CheckMemory(std::min<int64_t>(NumThreads(), matrices) * elements *
                          static_cast<int64_t>(sizeof(T)));
}

template <typename T>
void WriteMatrix(OpCall& call, int64_t row, int64_t index, const std::vector<T>& values) {
  const PrimitiveType type = call.shape().element_type();
  const int64_t size = static_cast<int64_t>(values.size());
  const int64_t at = row * call.result_elements() + index * size;
  FindConvertLoop(PrimitiveTypeOf<T>::value, type)(values.data(),
                                                   call.result().mutable_data() + at * ByteWidth(type), size);
}

}  // namespace

absl::Status ExecuteCholesky(OpCall& call) {
  const Shape& shape = call.shape();
  const bool uniform = call.uniform(0), lower = call.attrs().cholesky_options().lower();
  const int64_t rows = call.rows(0), n = shape.dim(shape.rank() - 1);
  RETURN_IF_ERROR(call.NewResult(uniform));
  if (call.result_elements() == 0) return absl::OkStatus();
  return WithComputeType(shape.element_type(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    const int64_t matrices = call.result_elements() / (n * n);
    RETURN_IF_ERROR(CheckScratch<T>(call, rows * matrices, 2 * n * n));
    ParallelFor(rows * matrices, std::max<int64_t>(1, 16384 / (n * n * n + 1)),
                [&](int64_t begin, int64_t end) {
                  std::vector<T> a, l(n * n);
                  for (int64_t i = begin; i < end; ++i) {
                    ReadMatrix(call, 0, i / matrices, i % matrices, n * n, &a);
                    CholeskyFactor(a.data(), n, lower, l.data());
                    WriteMatrix(call, i / matrices, i % matrices, l);
                  }
                });
    return absl::OkStatus();
  });
}

absl::Status ExecuteTriangularSolve(OpCall& call) {
  const xla::TriangularSolveOptions& proto = call.attrs().triangular_solve_options();
  const SolveOptions options{proto.lower(), proto.unit_diagonal(),
                             proto.transpose_a() == xla::TriangularSolveOptions::TRANSPOSE ||
                                 proto.transpose_a() == xla::TriangularSolveOptions::ADJOINT,
                             proto.transpose_a() == xla::TriangularSolveOptions::ADJOINT};
  const Shape& shape = call.shape();
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  const int64_t m = shape.dim(shape.rank() - 2), n = shape.dim(shape.rank() - 1);
  RETURN_IF_ERROR(call.NewResult(uniform));
  if (call.result_elements() == 0) return absl::OkStatus();
  return WithComputeType(shape.element_type(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    const int64_t matrices = call.result_elements() / (m * n), order = proto.left_side() ? m : n;
    RETURN_IF_ERROR(CheckScratch<T>(call, rows * matrices, order * order + 4 * m * n));
    ParallelFor(rows * matrices, std::max<int64_t>(1, 16384 / (order * m * n + 1)),
                [&](int64_t begin, int64_t end) {
                  std::vector<T> a, b, x(m * n);
                  for (int64_t i = begin; i < end; ++i) {
                    ReadMatrix(call, 0, i / matrices, i % matrices, order * order, &a);
                    ReadMatrix(call, 1, i / matrices, i % matrices, m * n, &b);
                    Solve(a.data(), b.data(), m, n, proto.left_side(), options, x.data());
                    WriteMatrix(call, i / matrices, i % matrices, x);
                  }
                });
    return absl::OkStatus();
  });
}

}  // namespace toroid
