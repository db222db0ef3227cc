// Normalization, Fourier transforms, linear algebra.
//
// batch-norm-*      C1 x is a float array, feature_index in range. C2 the vectors (scale, offset, mean,
// variance) are
//                   [size of the feature dimension] of x's type; dy of batch-norm-grad has x's shape.
//                   Results: training (y, mean, variance); inference y; grad (dx, dscale, doffset).
// fft               C1 1 to 3 lengths >= 0 over the trailing dimensions. C2 FFT, IFFT: complex; RFFT: f32 or
// f64;
//                   IRFFT: complex. C3 sizes equal the lengths; IRFFT's last size is length/2+1.
//                   Result: RFFT's last size length/2+1, complex; IRFFT's last size length, real.
// cholesky          C1 float or complex [.., n, n].
// triangular-solve  operands a, b. C1 equal float or complex types. C2 a is [.., m, m], b has its rank and
// leading
//                   sizes, and m rows (left_side) or columns. C3 transpose_a is NO_TRANSPOSE, TRANSPOSE or
//                   ADJOINT. Result: as b.
#ifndef TOROID_HLO_OPS_LINEAR_ALGEBRA_H_
#define TOROID_HLO_OPS_LINEAR_ALGEBRA_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferBatchNormTrainingShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBatchNormInferenceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBatchNormGradShape(const Instruction& instruction);
absl::StatusOr<Shape> InferFftShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCholeskyShape(const Instruction& instruction);
absl::StatusOr<Shape> InferTriangularSolveShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_LINEAR_ALGEBRA_H_
