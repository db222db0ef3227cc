// fft: discrete Fourier transforms over the 1 to 3 trailing dimensions, of any lengths.
//
// FFT, IFFT: complex to complex, IFFT divided by the product of the lengths. RFFT: real, last dimension n, to
// n/2+1 complex. IRFFT: n/2+1 complex to n real, the other half by Hermitian symmetry, scaled as IFFT.
// Computed in double.
#ifndef TOROID_RUNTIME_KERNELS_FFT_H_
#define TOROID_RUNTIME_KERNELS_FFT_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteFft(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_FFT_H_
