// Reads and writes the matrices of linear algebra calls: the last two dimensions of arrays, for each index of
// the others and each device, converted to double precision and back.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/plan/op_call.h"

namespace toroid {

template <typename T>
using DenseMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using DenseVector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

// The operands and results of a call, one matrix (or vector) at a time.
class MatrixBatches {
 public:
  explicit MatrixBatches(OpCall& call) : call_(call) {}

  // Requires that operand 0 is an array of matrices (with rank 1: of vectors of n elements) of floats or
  // complex numbers. Sets count, m, n.
  absl::Status ReadShape(int rank = 2) {
    rank_ = rank;
    const bool known =
        call_.num_operands() >= 1 && call_.operand_shape(0).rank() >= rank &&
        (IsFloat(call_.operand_shape(0).element_type()) || IsComplex(call_.operand_shape(0).element_type()));
    if (!known)
      return absl::InvalidArgumentError(absl::StrCat(
          "operand 0 is no array of ", rank == 2 ? "matrices" : "vectors", " of floats or complex numbers"));
    const Shape& shape = call_.operand_shape(0);
    m = rank == 2 ? shape.dim(shape.rank() - 2) : 1;
    n = shape.dim(shape.rank() - 1);
    per_row_ = 1;
    for (int d = 0; d < shape.rank() - rank; ++d) per_row_ *= shape.dim(d);
    count = per_row_ * (call_.AllUniform() ? 1 : call_.copies());
    // A matrix, its factors, and Eigen's scratch memory.
    return call_.CheckMemory(8 * m * n * static_cast<int64_t>(sizeof(complex128)));
  }

  // Adds a result of `type` with these last dimensions; the leading dimensions are those of operand 0.
  absl::Status AddResult(PrimitiveType type, absl::Span<const int64_t> last) {
    const int number = static_cast<int>(results_.size());
    const bool tuple = call_.shape().IsTuple();
    const bool exists = tuple ? number < static_cast<int>(call_.shape().tuple_shapes().size()) : number == 0;
    const Shape expected = WithLeading(type, last);
    if (!exists || !(tuple ? call_.shape().tuple_shape(number) : call_.shape()).Compatible(expected)) {
      return absl::InvalidArgumentError(absl::StrCat("result ", number, " is ", expected.ToString(),
                                                     ", not in ", call_.shape().ToString()));
    }
    Result result{expected, MeshBuffer()};
    RETURN_IF_ERROR(call_.New(expected.ByteSize(), call_.AllUniform(), &result.buffer));
    results_.push_back(std::move(result));
    return absl::OkStatus();
  }

  // Checks that operand `operand` has `type` and these last dimensions; its leading dimensions must be
  // operand 0's.
  absl::Status CheckOperand(int operand, absl::Span<const int64_t> last, PrimitiveType type) const {
    const Shape expected = WithLeading(type, last);
    if (operand < call_.num_operands() && call_.operand_shape(operand).Compatible(expected)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "operand ", operand, " is to be ", expected.ToString(),
        operand < call_.num_operands() ? absl::StrCat(", not ", call_.operand_shape(operand).ToString())
                                       : ""));
  }

  // Number of results added so far, and of results that the call declares.
  int num_results() const { return static_cast<int>(results_.size()); }
  int num_declared() const {
    return call_.shape().IsTuple() ? static_cast<int>(call_.shape().tuple_shapes().size()) : 1;
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

  PrimitiveType type() const { return call_.operand_shape(0).element_type(); }
  int64_t count = 0, m = 0, n = 0;

 private:
  struct Result {
    Shape shape;
    MeshBuffer buffer;
  };
  Shape WithLeading(PrimitiveType type, absl::Span<const int64_t> last) const {
    Dims dims(call_.operand_shape(0).dims().begin(), call_.operand_shape(0).dims().end() - rank_);
    dims.insert(dims.end(), last.begin(), last.end());
    return Shape(type, dims);
  }

  OpCall& call_;
  int rank_ = 2;
  int64_t per_row_ = 1;
  std::vector<Result> results_;
};

// Calls f(i, a) for each matrix a of operand 0, in double precision; then sets the call's result.
template <typename F>
absl::Status ForEachMatrix(MatrixBatches& batches, F&& f) {
  const auto visit = [&](auto zero) {
    DenseMatrix<decltype(zero)> a(batches.m, batches.n);
    for (int64_t i = 0; i < batches.count; ++i) {
      a.resize(batches.m, batches.n);
      batches.Read(0, i, a.data(), a.size());
      f(i, a);
    }
  };
  IsComplex(batches.type()) ? visit(complex128()) : visit(double());
  return batches.Finish();
}
template <typename Matrix>
using ScalarOf = typename std::decay_t<Matrix>::Scalar;

inline absl::Status CheckSquare(const MatrixBatches& batches) {
  if (batches.m == batches.n) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("matrices of ", batches.m, " x ", batches.n, "; give square ones"));
}

// The matrices of operand 0. Errors: as ReadShape, CheckSquare.
inline absl::StatusOr<MatrixBatches> MatricesOf(OpCall& call) {
  MatrixBatches batches(call);
  RETURN_IF_ERROR(batches.ReadShape());
  return batches;
}
inline absl::StatusOr<MatrixBatches> SquareMatricesOf(OpCall& call) {
  ASSIGN_OR_RETURN(MatrixBatches batches, MatricesOf(call));
  RETURN_IF_ERROR(CheckSquare(batches));
  return batches;
}

}  // namespace toroid
