// Normalization, Fourier transforms, linear algebra. Types of a normalization are equal up to floats.
//
// batch-norm-training, batch-norm-inference, batch-norm-grad: operands x and vectors (scale, offset,
// mean, variance). Results: training (y, mean, variance); inference y; grad (dx, dscale, doffset).
//   C1 x is a float array.
//   C2 feature_index is a dimension of x.
//   C3 the vectors are [size of the feature dimension] of x's type.
// batch-norm-grad:
//   C4 dy has x's shape.
//
// fft: Result: RFFT's last size is length/2+1, complex, 0 for length 0; IRFFT's last size length, real.
//   C1 1 to 3 lengths, over the trailing dimensions.
//   C2 FFT, IFFT and IRFFT take complex numbers, RFFT f32 or f64.
//   C3 the lengths are the sizes; the last size of IRFFT is length/2+1, for length 0 also 0.
//
// cholesky:
//   C1 floats or complex numbers.
//   C2 the last two dimensions are equal.
//
// triangular-solve: operands a, b. Result: as b.
//   C1 one type, float or complex.
//   C2 the last two dimensions of a are equal.
//   C3 b has a's rank and leading sizes.
//   C4 b has as many rows (left_side) or columns as a.
//   C5 transpose_a is NO_TRANSPOSE, TRANSPOSE or ADJOINT, or not given.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferBatchNormTrainingShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBatchNormInferenceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBatchNormGradShape(const Instruction& instruction);
absl::StatusOr<Shape> InferFftShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCholeskyShape(const Instruction& instruction);
absl::StatusOr<Shape> InferTriangularSolveShape(const Instruction& instruction);

}  // namespace toroid
