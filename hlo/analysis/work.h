// Work of one instruction, by the unit that does it, as its shapes tell it.
#ifndef TOROID_HLO_ANALYSIS_WORK_H_
#define TOROID_HLO_ANALYSIS_WORK_H_

#include <cstdint>

#include "hlo/ir/instruction.h"

namespace toroid {

// All saturate at the largest int64.
struct Work {
  // Multiplications and additions of contractions:
  //   dot, scaled-dot  2 x result x contracted elements
  //   convolution      2 x result x kernel elements per output feature
  //   ragged-dot       2 x left operand x result columns, for every row belongs to one group
  //   cholesky         n^3 / 3 for each matrix;  triangular-solve n^2 for each column
  // Example: f32[64,512] = dot(f32[64,128], f32[128,512]) is 2 x 32768 x 128 = 8388608.
  int64_t matrix_flops = 0;
  // Other arithmetic on elements: one for each elementwise op and element of its result, and those of the computations
  // that reduce, reduce-window, map, scan, scatter, select-and-scatter and sort (n log2 n comparisons) apply.
  int64_t vector_flops = 0;
  // Of the elementwise ones those with Trait kTranscendental; complex ones count once.
  int64_t transcendentals = 0;
  // From and to memory: operands and results, nothing for what makes no array of its own, for constants, and for
  // calls, loops and branches, whose bodies count instead. What picks rows (gather, dynamic-slice) reads those, and
  // what updates some (scatter, dynamic-update-slice) writes those alone.
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  // Slices that gather, scatter and dynamic slices touch.
  int64_t rows = 0;

  Work& operator+=(const Work& other);
};

// A fusion does what its computation does, and moves what enters and leaves it: of a parameter that only gathers and
// dynamic slices use what they pick, of a result that a dynamic-update-slice makes the update.
// The instruction need not be valid: dimensions that its operands do not have count nothing.
Work WorkOf(const Instruction& instruction);

// The first field of WorkOf, and for a fusion nothing: whoever walks all computations meets its inside.
int64_t MatrixFlops(const Instruction& instruction);

// Bytes of the arrays of a shape. Saturates.
int64_t ArrayBytes(const Shape& shape);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_WORK_H_
