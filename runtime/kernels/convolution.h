// convolution: out[b, o, y] = sum over window positions k and input features i of
//                  lhs[b', i', p] * rhs[i, o, k*]
//   p = (y * stride + k * window_dilation - pad_low) / base_dilation; a fractional or outside p gives 0
//   k* = k, or size - 1 - k if the window is reversed
// Feature groups G: i' = g * (F / G) + i with g = o / (O / G).
// Batch groups B:   b' = h * (N / B) + b with h = o / (O / B).
//
// The operand is padded and dilated into [N, spatial, F], unless it is that already; its windows become the rows of a matrix,
// block by block (im2col), and each block is one matrix product. Sums are taken as in dot.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteConvolution(OpCall& call);

// What it takes beside operands and result: operands that have to be prepared, a block of windows, and the sums if they are in
// another type or order than the result. `rows`: of each operand.
int64_t ConvolutionScratchBytes(const Instruction& convolution, absl::Span<const int64_t> rows);

}  // namespace toroid
