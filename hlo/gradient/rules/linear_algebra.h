// Gradients of Fourier transforms, of the Cholesky decomposition and of triangular systems.
//
// Sources: for the Cholesky decomposition, Murray, Differentiation of the Cholesky decomposition (2016),
// equation 9: with L L^T = A, S = L^-T phi(L^T L') L^-1, phi the lower triangle with half of the diagonal.
// For the solution X of op(A) X = B: B' = op(A)^-T X', and A' is the triangle of -B' X^T.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status FftGradient(Pullback& p);
absl::Status CholeskyGradient(Pullback& p);
absl::Status TriangularSolveGradient(Pullback& p);

}  // namespace toroid
