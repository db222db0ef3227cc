// Work of one instruction, by the unit that does it, computed from its shapes.
#pragma once

#include <cstdint>

#include "hlo/ir/instruction.h"

namespace toroid {

// All fields saturate at INT64_MAX.
struct Work {
  // Multiplications and additions of contractions:
  //   dot, scaled-dot  2 x result x contracted elements
  //   convolution      2 x result x kernel elements per output feature
  //   ragged-dot       2 x left operand x result columns, for every row belongs to one group
  //   cholesky         n^3 / 3 for each matrix;  triangular-solve n^2 for each column
  // Example: f32[64,512] = dot(f32[64,128], f32[128,512]) is 2 x 32768 x 128 = 8388608.
  int64_t matrix_flops = 0;
  // Other arithmetic: one flop for each result element of an elementwise op, and the flops of the
  // computations that reduce, reduce-window, map, scan, scatter, select-and-scatter and sort (n log2 n
  // comparisons) apply.
  int64_t vector_flops = 0;
  // Result elements of elementwise ops with Trait kTranscendental; a complex one counts once.
  int64_t transcendentals = 0;
  // Memory traffic: operands read and results written. Constants, ops without a buffer of their own, and
  // calls, loops and branches count nothing; their bodies count instead. gather and dynamic-slice read only
  // the rows they pick; scatter and dynamic-update-slice write only the rows they update.
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  // Slices that gather, scatter and dynamic slices touch.
  int64_t rows = 0;

  Work& operator+=(const Work& other);
};

// A fusion has the arithmetic of its computation and the traffic of its parameters and results. A parameter
// that only gathers and dynamic slices use counts what they pick; a result made by a dynamic-update-slice
// counts the update.
// The instruction need not be valid: dimensions that its operands lack count nothing.
Work WorkOf(const Instruction& instruction);

// Products and convolutions: dot, scaled-dot, ragged-dot, convolution.
bool IsMatrixOp(Opcode opcode);

// WorkOf(instruction).matrix_flops, but 0 for a fusion: callers that walk all computations count its body
// there.
int64_t MatrixFlops(const Instruction& instruction);

// Bytes of the arrays of a shape. Saturates.
int64_t ArrayBytes(const Shape& shape);

}  // namespace toroid
