// A binary op on single values as a loop, and the types of such loops.
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"
#include "hlo/opcode.h"

namespace toroid {

// Which operand of a loop is a single value, used for all n elements.
enum class Repeat { kNone, kFirst, kSecond };

// `out` may be `a` or `b` if their types have equal sizes.
using BinaryLoop = void (*)(const void* a, const void* b, void* out, int64_t n, Repeat repeat);

// An op as a loop. Exact aliases (out == a or out == b) are allowed, so iterations are independent.
template <typename T, typename Out, Out (*kOp)(T, T)>
void LoopOfTwo(const void* a, const void* b, void* out, int64_t n, Repeat repeat) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  Out* z = static_cast<Out*>(out);
  if (repeat == Repeat::kNone) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) z[i] = kOp(x[i], y[i]);
  } else if (repeat == Repeat::kFirst) {
    const T first = *x;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) z[i] = kOp(first, y[i]);
  } else {
    const T second = *y;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) z[i] = kOp(x[i], second);
  }
}

}  // namespace toroid
