#include "hlo/ops/linear_algebra.h"

#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

// Checks x and the vectors operand(1) .. operand(vectors); returns the shape of a vector.
absl::StatusOr<Shape> CheckBatchNorm(const Instruction& instruction, int vectors) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& x = instruction.operand(0)->shape();
  if (!IsFloat(x.element_type())) return Violates("C1", "operand 0", x.ToString(), "floats");
  const int64_t feature = instruction.attrs().feature_index();
  RETURN_IF_ERROR(CheckDimension("C2", "feature_index", feature, x.rank()));
  const Shape vector(x.element_type(), {x.dim(feature)});
  for (int i = 1; i <= vectors; ++i) {
    RETURN_IF_ERROR(
        CheckShapeUpToFloats("C3", absl::StrCat("operand ", i), instruction.operand(i)->shape(), vector));
  }
  return vector;
}

absl::Status CheckFloatOrComplex(const Shape& a) {
  if (IsFloat(a.element_type()) || IsComplex(a.element_type())) return absl::OkStatus();
  return Violates("C1", "operand 0", a.ToString(), "floats or complex numbers");
}

absl::Status CheckSquare(const Shape& a) {
  if (a.rank() >= 2 && a.dim(a.rank() - 1) == a.dim(a.rank() - 2)) return absl::OkStatus();
  return Violates("C2", "operand 0", a.ToString(), "two equal last dimensions");
}

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
  RETURN_IF_ERROR(CheckShapeUpToFloats("C4", "dy", instruction.operand(4)->shape(), x));
  return Shape::Tuple({x.WithRowMajorLayout(), vector, vector});
}

absl::StatusOr<Shape> InferFftShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const auto lengths = AsSpan(instruction.attrs().fft_length());
  const int n = static_cast<int>(lengths.size());
  if (n < 1 || n > 3 || n > operand.rank()) {
    return Violates("C1", "FFT lengths", ListOf(lengths),
                    absl::StrCat("1 to 3, for trailing dimensions of ", operand.ToString()));
  }
  const xla::FftType type = instruction.attrs().fft_type();
  const PrimitiveType element = operand.element_type();
  const bool real_input = type == xla::RFFT;
  if (type < xla::FFT || type > xla::IRFFT ||
      (real_input ? element != xla::F32 && element != xla::F64 : !IsComplex(element))) {
    return Violates("C2", "FFT type and operand",
                    absl::StrCat(xla::FftType_Name(type), " of ", operand.ToString()),
                    "FFT, IFFT or IRFFT of complex numbers, or RFFT of f32 or f64");
  }
  Dims dims(operand.dims().begin(), operand.dims().end());
  for (int i = 0; i < n; ++i) {
    const int d = operand.rank() - n + i;
    const bool halved = type == xla::IRFFT && i == n - 1;
    if (halved && lengths[i] == 0 && dims[d] == 0) continue;
    if (lengths[i] < 0 || dims[d] != (halved ? lengths[i] / 2 + 1 : lengths[i])) {
      return Violates("C3", absl::StrCat("dimension ", d, " of ", operand.ToString()), absl::StrCat(dims[d]),
                      absl::StrCat(halved ? lengths[i] / 2 + 1 : lengths[i], " for length ", lengths[i]));
    }
  }
  if (type == xla::RFFT && lengths.back() > 0) dims.back() = lengths.back() / 2 + 1;
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
  RETURN_IF_ERROR(CheckFloatOrComplex(a));
  RETURN_IF_ERROR(CheckSquare(a));
  return a.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferTriangularSolveShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& a = instruction.operand(0)->shape();
  const Shape& b = instruction.operand(1)->shape();
  const xla::TriangularSolveOptions& options = instruction.attrs().triangular_solve_options();
  RETURN_IF_ERROR(CheckFloatOrComplex(a));
  if (a.element_type() != b.element_type()) {
    return Violates("C1", "operand 1", b.ToString(), absl::StrCat("type ", TypeName(a.element_type())));
  }
  RETURN_IF_ERROR(CheckSquare(a));
  bool fits = b.rank() == a.rank();
  for (int d = 0; fits && d < a.rank() - 2; ++d) fits = a.dim(d) == b.dim(d);
  if (!fits) {
    return Violates("C3", "operand 1", b.ToString(),
                    absl::StrCat("the rank and the leading sizes of ", a.ToString()));
  }
  if (b.dim(b.rank() - (options.left_side() ? 2 : 1)) != a.dims().back()) {
    return Violates("C4", "operand 1", b.ToString(),
                    absl::StrCat(a.dims().back(), options.left_side() ? " rows" : " columns"));
  }
  if (options.transpose_a() < xla::TriangularSolveOptions::TRANSPOSE_INVALID ||
      options.transpose_a() > xla::TriangularSolveOptions::ADJOINT) {
    return Violates("C5", "transpose_a", absl::StrCat(static_cast<int>(options.transpose_a())),
                    "NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  }
  return b.WithRowMajorLayout();
}

}  // namespace toroid
