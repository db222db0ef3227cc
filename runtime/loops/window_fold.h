// Folds windows along one dimension of an array [copies, outer, n, inner]:
//   out[.., j, i] = op(init, fold of x[.., j * stride - low + k * dilation, i] over k < size)
// where x is `init` outside [0, n) and, with base dilation b, element p stands at position p * b among b - 1 times `init`.
//
// Works on pieces that fit in the cache; no padded array is written. The order of an inexact op depends on the sizes alone:
// windows of at most 4 elements, and windows of wide rows that overlap little, are folded from the first element to the last;
// others are sequences of runs whose sizes are powers of two, the smallest first, each the fold of two halves.
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"
#include "runtime/loops/loop_of_two.h"

namespace toroid {

struct WindowFold {
  BinaryLoop loop = nullptr;       // On ComputeType of both types, which is the same.
  PrimitiveType x_type, out_type;  // A narrow float may be read or written as F32.
  int64_t copies = 1, outer = 1, n = 1, inner = 1;
  int64_t size = 1, stride = 1, low = 0, dilation = 1, base = 1;
  int64_t count = 1;                  // Windows.
  int64_t x_copy = 0, init_copy = 0;  // Bytes from one copy to the next; 0: all use the same.
};

// `init` has ComputeType(x_type). Requires op(init, init) = init, as of an identity: it may be folded any number of times. Uses
// several threads, each with scratch memory of WindowScratchBytes().
void FoldWindowsOfDim(const WindowFold& fold, const char* x, const char* init, char* out);

// Saturates.
int64_t WindowScratchBytes(const WindowFold& fold);

}  // namespace toroid
