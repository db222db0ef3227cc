#include "hlo/ops/linear_algebra.h"

#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

// Checks x and the vectors operand(1) .. operand(vectors); returns the shape of a vector.
absl::StatusOr<Shape> CheckBatchNorm(const Instruction& instruction, int vectors) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& x = instruction.operand(0)->shape();
  if (!IsFloat(x.element_type())) return Violates("C1", absl::StrCat("batch norm of ", x.ToString()));
  const int64_t feature = instruction.attrs().feature_index();
  RETURN_IF_ERROR(CheckDimension("C1", "feature_index", feature, x.rank()));
  const Shape vector(x.element_type(), {x.dim(static_cast<int>(feature))});
  for (int i = 1; i <= vectors; ++i) {
    if (!SameShape(instruction.operand(i)->shape(), vector)) {
      return Violates("C2", absl::StrCat("operand ", i, " is ", instruction.operand(i)->shape().ToString(),
                                         ", not ", vector.ToString()));
    }
  }
  return vector;
}

bool IsSquare(const Shape& shape) {
  return shape.rank() >= 2 && shape.dim(shape.rank() - 1) == shape.dim(shape.rank() - 2);
}

bool IsFloatOrComplex(PrimitiveType type) { return IsFloat(type) || IsComplex(type); }

}  // namespace

absl::StatusOr<Shape> InferBatchNormTrainingShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape vector, CheckBatchNorm(instruction, 2));
  return Shape::Tuple({instruction.operand(0)->shape().WithRowMajorLayout(), vector, vector});
}

absl::StatusOr<Shape> InferBatchNormInferenceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckBatchNorm(instruction, 4).status());
  return instruction.operand(0)->shape().WithRowMajorLayout();
}

absl::StatusOr<Shape> InferBatchNormGradShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape vector, CheckBatchNorm(instruction, 3));
  const Shape& x = instruction.operand(0)->shape();
  if (!SameShape(instruction.operand(4)->shape(), x)) {
    return Violates(
        "C2", absl::StrCat("dy is ", instruction.operand(4)->shape().ToString(), ", not ", x.ToString()));
  }
  return Shape::Tuple({x.WithRowMajorLayout(), vector, vector});
}

absl::StatusOr<Shape> InferFftShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const auto lengths = AsSpan(instruction.attrs().fft_length());
  const int n = static_cast<int>(lengths.size());
  if (n < 1 || n > 3 || n > operand.rank()) {
    return Violates("C1", absl::StrCat(n, " lengths for ", operand.ToString()), "give 1 to 3");
  }
  const xla::FftType type = instruction.attrs().fft_type();
  const PrimitiveType element = operand.element_type();
  const bool real_input = type == xla::RFFT;
  if (type < xla::FFT || type > xla::IRFFT ||
      (real_input ? element != xla::F32 && element != xla::F64 : !IsComplex(element))) {
    return Violates("C2", absl::StrCat("FFT type ", static_cast<int>(type), " of ", operand.ToString()));
  }
  Dims dims(operand.dims().begin(), operand.dims().end());
  for (int i = 0; i < n; ++i) {
    const int d = operand.rank() - n + i;
    const bool halved = type == xla::IRFFT && i == n - 1;
    if (lengths[i] < 0 || dims[d] != (halved ? lengths[i] / 2 + 1 : lengths[i])) {
      return Violates("C3",
                      absl::StrCat("length ", lengths[i], " for dimension ", d, " of ", operand.ToString()));
    }
  }
  if (type == xla::RFFT) dims.back() = lengths.back() / 2 + 1;
  if (type == xla::IRFFT) dims.back() = lengths.back();
  const PrimitiveType result = type == xla::IRFFT    ? RealTypeOf(element)
                               : !real_input         ? element
                               : element == xla::F32 ? xla::C64
                                                     : xla::C128;
  return MakeArray(result, dims);
}

absl::StatusOr<Shape> InferCholeskyShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& a = instruction.operand(0)->shape();
  if (!IsSquare(a) || !IsFloatOrComplex(a.element_type())) {
    return Violates("C1", absl::StrCat("cholesky of ", a.ToString()), "use float or complex [.., n, n]");
  }
  return a.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferTriangularSolveShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& a = instruction.operand(0)->shape();
  const Shape& b = instruction.operand(1)->shape();
  const xla::TriangularSolveOptions& options = instruction.attrs().triangular_solve_options();
  if (a.element_type() != b.element_type() || !IsFloatOrComplex(a.element_type())) {
    return Violates("C1", absl::StrCat(a.ToString(), " and ", b.ToString()));
  }
  bool fits = IsSquare(a) && b.rank() == a.rank();
  for (int d = 0; fits && d < a.rank() - 2; ++d) fits = a.dim(d) == b.dim(d);
  if (!fits || b.dim(b.rank() - (options.left_side() ? 2 : 1)) != a.dims().back()) {
    return Violates("C2", absl::StrCat("a is ", a.ToString(), ", b ", b.ToString()));
  }
  if (options.transpose_a() < xla::TriangularSolveOptions::TRANSPOSE_INVALID ||
      options.transpose_a() > xla::TriangularSolveOptions::ADJOINT) {
    return Violates("C3", "unknown transpose_a");
  }
  return b.WithRowMajorLayout();
}

}  // namespace toroid
