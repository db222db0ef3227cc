// Comparators of sort that order elements by keys.
//
// compare(a, b) is one: those that XLA's clients (TensorFlow, PyTorch) give it, in the total order for floats. With several
// keys these select the next comparison where all keys before are equal:
//   select(and(eq(a0, b0), eq(a1, b1)), lt(a2, b2), select(eq(a0, b0), lt(a1, b1), lt(a0, b0)))
// After optimization XLA compares floats as integers, bits of negative ones changed. JAX's give all zeros and all NaNs one
// value each, and with several keys, or complex numbers, compare the next key where the one before is equal:
//   or(lt(f(a0), f(b0)), and(eq(f(a0), f(b0)), lt(f(a1), f(b1))))
// Negated floats and conversions that keep the order are looked through.
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
