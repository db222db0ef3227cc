// A second, independent implementation of the element types, for tests: bits to values and back, and random
// arrays.
//
// Nothing here uses the types' own conversions. Floats of up to 16 bits are tables of all their codes;
// rounding searches the table. Integers are __int128, wrapped by hand.
#pragma once

#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/literal.h"

namespace toroid {

const std::vector<PrimitiveType>& IntTypes();      // s2 .. s64, u2 .. u64
const std::vector<PrimitiveType>& FloatTypes();    // f4 .. f64
const std::vector<PrimitiveType>& ComplexTypes();  // c64, c128
// All of these, and pred.
const std::vector<PrimitiveType>& AllTypes();

// "f32[2,3]".
std::string TypedShape(PrimitiveType type, absl::Span<const int64_t> dims);

// The bits of element i; the real and imaginary part of a complex number are elements 2 i and 2 i + 1.
uint64_t BitsAt(const Literal& literal, int64_t i);
void SetBits(Literal* literal, int64_t i, uint64_t bits);

// Integers and pred.
__int128 IntOfBits(PrimitiveType type, uint64_t bits);
uint64_t BitsOfInt(PrimitiveType type, __int128 value);  // Wraps.

// Floats; for complex types, their components.
double FloatOfBits(PrimitiveType type, uint64_t bits);
uint64_t BitsOfFloat(PrimitiveType type, double value);  // Rounds to nearest, ties to even codes.

inline __int128 IntAt(const Literal& x, int64_t i) {
  return IntOfBits(x.shape().element_type(), BitsAt(x, i));
}
inline double FloatAt(const Literal& x, int64_t i) {
  return FloatOfBits(x.shape().element_type(), BitsAt(x, i));
}
inline std::complex<double> ComplexAt(const Literal& x, int64_t i) {
  return {FloatAt(x, 2 * i), FloatAt(x, 2 * i + 1)};
}

// Integers: the whole range, with extremes often. Floats: about [-4, 4), with every special code among them
// if `specials`.
Literal RandomArray(PrimitiveType type, absl::Span<const int64_t> dims, std::mt19937_64& random,
                    bool specials = true);
// Integers in [low, high], which every type but pred and the narrowest can hold.
Literal RandomSmall(PrimitiveType type, absl::Span<const int64_t> dims, std::mt19937_64& random, int low,
                    int high);

// Whether a result's bits are those of `expected`, rounded. Any NaN equals any other; differences of up to
// `steps` codes (in f32 and f64 of `relative` times the value) are allowed.
bool IsNear(PrimitiveType type, uint64_t bits, double expected, int steps = 0, double relative = 0);

}  // namespace toroid
