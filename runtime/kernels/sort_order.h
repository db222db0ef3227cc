// Comparators of sort that order elements by keys.
//
// XLA's and PyTorch's comparators are compare(a, b). JAX's first give all zeros and all NaNs one value each, and with several
// keys, or complex numbers, compare the next key where the one before is equal:
//   or(lt(f(a0), f(b0)), and(eq(f(a0), f(b0)), lt(f(a1), f(b1))))
#pragma once

#include <optional>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// A value of one element of an operand, and how it is compared.
struct SortKey {
  enum class Part : uint8_t { kWhole, kReal, kImag };  // Of a complex number.
  int operand = 0;
  Part part = Part::kWhole;
  bool one_zero = false;  // -0 is replaced by +0.
  bool one_nan = false;   // Every NaN is replaced by the positive one.
  bool descending = false;
  bool total = false;  // Compared in the total order: -NaN, -inf, .., -0, +0, .., inf, NaN.
};

// The keys, the first one foremost; nullopt for a comparator of another kind.
std::optional<std::vector<SortKey>> SortKeysOf(const Computation& comparator);

}  // namespace toroid
