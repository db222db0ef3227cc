// Running folds of arrays [copies, lines, rows, inner] along `rows`:
//   out[.., k, i] = op(init, x[.., 0, i], .., x[.., k, i]), or from the last row backwards.
//
// The order of an inexact op depends on the sizes alone, never on the number of threads. Rows are folded in blocks of 64 (lines
// that are narrower than 64 elements: 16 times as many rows as make 64 elements, a power of two), 64 blocks are one chunk, and
//   out[k] = op(folds of the chunks before, op(folds of the blocks before in the chunk, fold inside the block)).
// Folds of blocks and chunks run one after the other. Inside the block of a narrow line, the last 64 elements are folded as a
// tree, and these folds one after the other. So a sum of n numbers has an error of at most n/2^12 + 140 roundings of its
// partial sums (n/2^16 + 90 if rows are single elements), against n of a sum in order. Narrow floats are folded in float and
// rounded once.
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"
#include "runtime/loops/loop_of_two.h"

namespace toroid {

struct PrefixScan {
  BinaryLoop loop = nullptr;                       // On ComputeType(type).
  PrimitiveType type = xla::F32;                   // Of all arrays.
  int64_t copies = 1, lines = 1, rows, inner = 1;  // `lines` of each copy.
  bool reverse = false;
  // Bytes from one copy, and from one line, to the next; 0: all use the same.
  int64_t x_copy = 0, x_line = 0, out_copy = 0, out_line = 0;
  int64_t init_copy = 0;
};

// Requires op(init, init) = init, as of an identity; `out` does not overlap `x`. Uses several threads, each with scratch memory
// of ScanScratchBytes().
void ScanRows(const PrefixScan& scan, const char* x, const char* init, char* out);

int64_t ScanScratchBytes(const PrefixScan& scan);

}  // namespace toroid
