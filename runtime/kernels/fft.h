// fft: discrete Fourier transforms over the 1 to 3 trailing dimensions, of any lengths.
//
// FFT, IFFT: complex to complex; IFFT divides by the product of the lengths. RFFT: real to complex, last
// dimension n to n/2+1. IRFFT: complex to real, last dimension n/2+1 to n; the other half follows by
// Hermitian symmetry, scaled as IFFT. Computed in double (loops/fft_lines.h), and rounded to the type after the last dimension.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteFft(OpCall& call);

// Bytes that it takes beside operands and result. `rows`: of each operand.
int64_t FftScratchBytes(const Instruction& fft, absl::Span<const int64_t> rows);

}  // namespace toroid
