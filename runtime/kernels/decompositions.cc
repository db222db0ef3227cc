#include "runtime/kernels/decompositions.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "Eigen/Cholesky"
#include "Eigen/Core"
#include "Eigen/Eigenvalues"
#include "Eigen/Householder"
#include "Eigen/QR"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/custom_config.h"

namespace toroid {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

Dims Last(const Shape& shape, int n) { return Dims(shape.dims().end() - n, shape.dims().end()); }

// The operands and results of a call, one matrix (or vector) at a time.
class Batches {
 public:
  explicit Batches(OpCall& call) : call_(call) {}

  // Operand 0 is an array of matrices of floats or complex numbers. Sets count, m, n.
  absl::Status ReadShape() {
    const bool known =
        call_.num_operands() >= 1 && call_.operand_shape(0).rank() >= 2 &&
        (IsFloat(call_.operand_shape(0).element_type()) || IsComplex(call_.operand_shape(0).element_type()));
    if (!known)
      return absl::InvalidArgumentError("operand 0 is no array of matrices of floats or complex numbers");
    const Shape& shape = call_.operand_shape(0);
    m = shape.dim(shape.rank() - 2);
    n = shape.dim(shape.rank() - 1);
    per_row_ = 1;
    for (int d = 0; d < shape.rank() - 2; ++d) per_row_ *= shape.dim(d);
    count = per_row_ * (call_.AllUniform() ? 1 : call_.copies());
    // A matrix, its factors, and what Eigen holds beside them.
    return call_.CheckMemory(8 * m * n * static_cast<int64_t>(sizeof(complex128)));
  }

  // Makes result number `number` of `type` and these last dimensions; others are those of operand 0.
  absl::Status AddResult(PrimitiveType type, absl::Span<const int64_t> last) {
    const int number = static_cast<int>(results_.size());
    const bool tuple = call_.shape().IsTuple();
    const bool exists = tuple ? number < static_cast<int>(call_.shape().tuple_shapes().size()) : number == 0;
    Dims dims(call_.operand_shape(0).dims().begin(), call_.operand_shape(0).dims().end() - 2);
    dims.insert(dims.end(), last.begin(), last.end());
    const Shape expected(type, dims);
    if (!exists || !(tuple ? call_.shape().tuple_shape(number) : call_.shape()).Compatible(expected)) {
      return absl::InvalidArgumentError(absl::StrCat("result ", number, " is ", expected.ToString(),
                                                     ", not in ", call_.shape().ToString()));
    }
    Result result{expected, MeshBuffer()};
    RETURN_IF_ERROR(call_.New(expected.ByteSize(), call_.AllUniform(), &result.buffer));
    results_.push_back(std::move(result));
    return absl::OkStatus();
  }

  template <typename T>
  void Read(int operand, int64_t index, T* out, int64_t size) const {
    const Shape& shape = call_.operand_shape(operand);
    const int64_t at = (call_.uniform(operand) ? index % per_row_ : index) * size;
    FindConvertLoop(shape.element_type(), PrimitiveTypeOf<T>::value)(
        call_.data(operand) + at * ByteWidth(shape.element_type()), out, size);
  }
  template <typename T>
  void Write(int number, int64_t index, const T* values, int64_t size) {
    const PrimitiveType type = results_[number].shape.element_type();
    FindConvertLoop(PrimitiveTypeOf<T>::value, type)(
        values, results_[number].buffer.mutable_data() + index * size * ByteWidth(type), size);
  }
  absl::Status Finish() {
    if (!call_.shape().IsTuple()) {
      call_.result() = std::move(results_[0].buffer);
      return absl::OkStatus();
    }
    if (results_.size() != call_.shape().tuple_shapes().size()) {
      return absl::InvalidArgumentError(absl::StrCat("gives ", results_.size(), " results"));
    }
    MeshBuffer tuple = MeshBuffer::Tuple(static_cast<int>(results_.size()));
    for (size_t i = 0; i < results_.size(); ++i)
      tuple.mutable_element(static_cast<int>(i)) = std::move(results_[i].buffer);
    call_.result() = std::move(tuple);
    return absl::OkStatus();
  }

  int64_t count = 0, m = 0, n = 0;

 private:
  struct Result {
    Shape shape;
    MeshBuffer buffer;
  };
  OpCall& call_;
  int64_t per_row_ = 1;
  std::vector<Result> results_;
};

// Calls f with the type to compute in.
template <typename F>
absl::Status WithWideType(PrimitiveType type, F&& f) {
  return IsComplex(type) ? f(complex128()) : f(double());
}

// Operand 1 has a vector for each matrix of operand 0.
bool SameBatches(const OpCall& call) {
  const auto matrices = call.operand_shape(0).dims(), vectors = call.operand_shape(1).dims();
  return matrices.first(matrices.size() - 2) == vectors.first(vectors.size() - 1);
}

absl::Status CheckSquare(const Batches& batches) {
  if (batches.m == batches.n) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("matrices of ", batches.m, " x ", batches.n, "; give square ones"));
}

// Gaussian elimination with the largest pivot of each column.
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
  Batches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  RETURN_IF_ERROR(CheckSquare(batches));
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t n = batches.n;
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  const auto option = FindOption(call.instruction().backend_config(), "lower");
  const bool lower = !option || option->empty() || (*option)[0] != 0;
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    Matrix<T> a(n, n);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, a.data(), n * n);
      if (!lower) a = a.adjoint().eval();
      Eigen::LLT<Matrix<T>, Eigen::Lower> llt(a);
      Matrix<T> l = llt.matrixL();
      if (llt.info() != Eigen::Success) l.fill(T(std::numeric_limits<double>::quiet_NaN()));
      if (!lower) l = l.adjoint().eval();
      batches.Write(0, i, l.data(), n * n);
    }
    return batches.Finish();
  });
}

absl::Status EighCall(OpCall& call) {
  Batches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  RETURN_IF_ERROR(CheckSquare(batches));
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t n = batches.n;
  RETURN_IF_ERROR(batches.AddResult(type, {n, n}));
  RETURN_IF_ERROR(batches.AddResult(RealTypeOf(type), {n}));
  const bool upper = absl::StartsWith(call.instruction().backend_config(), "0");
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    Matrix<T> a(n, n);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, a.data(), n * n);
      if (upper) a = a.adjoint().eval();
      Matrix<T> v(n, n);
      Vector<double> w(n);
      if (n > 0) {
        Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(a);
        v = solver.eigenvectors();
        w = solver.eigenvalues();
        if (solver.info() != Eigen::Success || !a.allFinite()) {
          v.fill(T(std::numeric_limits<double>::quiet_NaN()));
          w.fill(std::numeric_limits<double>::quiet_NaN());
        }
      }
      batches.Write(0, i, v.data(), n * n);
      batches.Write(1, i, w.data(), n);
    }
    return batches.Finish();
  });
}

absl::Status QrCall(OpCall& call) {
  Batches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(type, {k}));
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    Matrix<T> a(m, n);
    for (int64_t i = 0; i < batches.count && k > 0; ++i) {
      batches.Read(0, i, a.data(), m * n);
      const Eigen::HouseholderQR<Matrix<T>> qr(a);
      const Matrix<T> packed = qr.matrixQR();
      // Its reflectors are those of the adjoint.
      const Vector<T> taus = qr.hCoeffs().conjugate();
      batches.Write(0, i, packed.data(), m * n);
      batches.Write(1, i, taus.data(), k);
    }
    return batches.Finish();
  });
}

absl::Status HouseholderProductCall(OpCall& call) {
  Batches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t m = batches.m, n = batches.n;
  if (call.num_operands() != 2 || call.operand_shape(1).rank() != call.operand_shape(0).rank() - 1 ||
      !SameBatches(call) || call.operand_shape(1).element_type() != type || m < n) {
    return absl::InvalidArgumentError(
        "takes matrices of at least as many rows as columns, and a vector of factors for each");
  }
  const int64_t k = call.operand_shape(1).dims().back();
  if (k > n) return absl::InvalidArgumentError(absl::StrCat(k, " reflectors for ", n, " columns"));
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    Matrix<T> packed(m, n);
    Vector<T> taus(k);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, packed.data(), m * n);
      batches.Read(1, i, taus.data(), k);
      Matrix<T> q = Matrix<T>::Identity(m, n);
      for (int64_t r = k - 1; r >= 0; --r) {
        Vector<T> v = Vector<T>::Zero(m);
        v(r) = T(1);
        for (int64_t row = r + 1; row < m; ++row) v(row) = packed(row, r);
        q -= taus(r) * v * (v.adjoint() * q);
      }
      batches.Write(0, i, q.data(), m * n);
    }
    return batches.Finish();
  });
}

absl::Status LuCall(OpCall& call) {
  Batches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t m = batches.m, n = batches.n, k = std::min(m, n);
  RETURN_IF_ERROR(batches.AddResult(type, {m, n}));
  RETURN_IF_ERROR(batches.AddResult(xla::S32, {k}));
  RETURN_IF_ERROR(batches.AddResult(xla::S32, {m}));
  return WithWideType(type, [&](auto tag) -> absl::Status {
    using T = decltype(tag);
    Matrix<T> a(m, n);
    std::vector<int32_t> pivots(k), permutation(m);
    for (int64_t i = 0; i < batches.count; ++i) {
      batches.Read(0, i, a.data(), m * n);
      Eliminate(a, pivots, permutation);
      batches.Write(0, i, a.data(), m * n);
      batches.Write(1, i, pivots.data(), k);
      batches.Write(2, i, permutation.data(), m);
    }
    return batches.Finish();
  });
}

}  // namespace toroid
