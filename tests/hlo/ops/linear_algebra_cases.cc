#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

std::vector<ViolatingCase> LinearAlgebraCases() {
  const std::string training = "(f32[8,4], f32[4], f32[4]) batch-norm-training(",
                    grad = "(f32[8,4], f32[4], f32[4]) batch-norm-grad(";
  const std::string options = ", epsilon=0.1, feature_index=";
  return {
      {"C1", training + "n, v4, v4)" + options + "1", "operand 0: found s32[8,4], expected floats"},
      {"C1", "c64[8,4] batch-norm-inference(c, v4, v4, v4, v4)" + options + "1", "found c64[8,4]"},
      {"C2", training + "x, v4, v4)" + options + "2",
       "feature_index: found 2, expected one of the 2 dimensions"},
      {"C2", grad + "x, v4, v4, v4, x)" + options + "-1", "found -1"},
      {"C3", training + "x, v, v4)" + options + "1", "operand 1: found f32[8], expected f32[4]"},
      {"C3", "f32[8,4] batch-norm-inference(x, v4, v4, v4, v)" + options + "1", "operand 4: found f32[8]"},
      {"C3", grad + "x, v4, v4, s, x)" + options + "1", "operand 3: found f32[]"},
      {"C4", grad + "x, v4, v4, v4, upd)" + options + "1", "dy: found f32[3,4], expected f32[8,4]"},
      {"C1", "c64[8,4] fft(c), fft_type=FFT, fft_length={}", "FFT lengths: found {}, expected 1 to 3"},
      {"C1", "c64[8,4] fft(c), fft_type=FFT, fft_length={1,8,4}", "for trailing dimensions of c64[8,4]"},
      {"C2", "c64[8,4] fft(x), fft_type=FFT, fft_length={4}",
       "FFT type and operand: found FFT of f32[8,4], expected FFT, IFFT or IRFFT of complex numbers"},
      {"C2", "c64[8,3] fft(c), fft_type=RFFT, fft_length={4}", "found RFFT of c64[8,4]"},
      {"C2", "f32[8,6] fft(x), fft_type=IRFFT, fft_length={6}", "found IRFFT of f32[8,4]"},
      {"C3", "c64[8,4] fft(c), fft_type=FFT, fft_length={5}",
       "dimension 1 of c64[8,4]: found 4, expected 5 for length 5"},
      {"C3", "f32[8,8] fft(c), fft_type=IRFFT, fft_length={8}", "found 4, expected 5 for length 8"},
      {"C3", "c64[8,3] fft(x), fft_type=RFFT, fft_length={7,4}",
       "dimension 0 of f32[8,4]: found 8, expected 7"},
      {"C1", "s32[8,4] cholesky(n)", "operand 0: found s32[8,4], expected floats or complex numbers"},
      {"C2", "f32[8,4] cholesky(x)", "operand 0: found f32[8,4], expected two equal last dimensions"},
      {"C2", "f32[8] cholesky(v)", "operand 0: found f32[8]"},
      {"C1", "s32[8,4] triangular-solve(n, n), left_side=true", "operand 0: found s32[8,4]"},
      {"C1", "s32[8,4] triangular-solve(m3, n), left_side=true",
       "operand 1: found s32[8,4], expected type f32"},
      {"C2", "f32[8,4] triangular-solve(x, x), left_side=true",
       "operand 0: found f32[8,4], expected two equal"},
      {"C3", "f32[2,3,4] triangular-solve(m3, b), left_side=true",
       "operand 1: found f32[2,3,4], expected the rank and the leading sizes of f32[3,3]"},
      {"C4", "f32[8,4] triangular-solve(m3, x), left_side=true",
       "operand 1: found f32[8,4], expected 3 rows"},
      {"C4", "f32[8,4] triangular-solve(m3, x), left_side=false", "expected 3 columns"},
      {"C5", "f32[3,3] triangular-solve(m3, m3), left_side=true",
       "transpose_a: found 7, expected NO_TRANSPOSE, TRANSPOSE or ADJOINT",
       [](Instruction* it) {
         it->MutableAttrs()->mutable_triangular_solve_options()->set_transpose_a(
             static_cast<xla::TriangularSolveOptions::Transpose>(7));
       }},
  };
}

}  // namespace toroid
