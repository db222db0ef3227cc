// How results of two runs are compared.
//
// Floats and complex numbers: max |a - b| over max |b| of one output, finite elements (the absolute error if
// all b are 0); NaN equals NaN, infinities must be equal. Integers and booleans are equal or not. Tolerances:
// f64 and c128 1e-12, f32 and c64 1e-5, f16 4e-3, bf16 2e-2, narrower floats one step of the format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/literal.h"

namespace toroid {

struct ArrayComparison {
  bool equal = true;
  // Largest |a - b| of finite elements, and that over the largest |b|. Integers: 0 when equal, else the
  // difference.
  double max_abs_error = 0;
  double max_rel_error = 0;
  // The first difference beyond the tolerance, such as "[2,3]: 1.5 instead of 1.25"; empty if equal.
  std::string difference;
};

struct Comparison {
  bool equal = true;
  double max_abs_error = 0;  // The largest over the outputs.
  double max_rel_error = 0;
  std::vector<ArrayComparison> outputs;  // One per array leaf, in pre-order.
};

// The tolerance of an element type; 0 for types that must be equal.
double Tolerance(PrimitiveType type);

// Compares `actual` with `expected`. A `tolerance` replaces those of the types, 0 asks for equality.
// Different shapes are a difference.
Comparison Compare(const Literal& actual, const Literal& expected,
                   std::optional<double> tolerance = std::nullopt);
// The same with a tolerance for each array leaf, in pre-order; integers and booleans must be equal all the
// same.
Comparison Compare(const Literal& actual, const Literal& expected, absl::Span<const double> tolerances);

// True if two values have the same bits, including run-time sizes. Any NaN equals any other, because IEEE 754 (6.3) leaves
// the sign of inf - inf open, and vector units and the scalar loop for the remainder give it different signs.
bool SameBits(const Literal& a, const Literal& b);
// The first element, in row-major order, in which two arrays of one shape differ by the same rule, ignoring run-time sizes.
std::optional<int64_t> FirstOtherElement(const Literal& a, const Literal& b);

// For each array leaf, in pre-order, the share of its elements that are NaN or infinite: 0 to 1.
std::vector<double> NonfiniteShares(const Literal& literal);

}  // namespace toroid
