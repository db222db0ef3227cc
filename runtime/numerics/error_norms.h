// How far a result lies from an exact one, per output.
//
//   rms = sqrt(mean |value - exact|^2)     max = max |value - exact|
//
// The exact result comes from a run without rounding (promote.h): its floats are f64, its complex numbers c128.
// Elements that are NaN in both, or the same infinity, count as 0; any other NaN or infinity as an infinite error.
// Integers and booleans: at least 1 where they differ.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/ir/literal.h"

namespace toroid {

struct ErrorNorms {
  double rms = 0, max = 0;              // Norms of value - exact.
  double exact_rms = 0, exact_max = 0;  // Norms of the exact result's finite elements.
  int64_t elements = 0;
};

// One entry per array leaf, in pre-order. Requires: shapes that differ in float types alone.
std::vector<ErrorNorms> ErrorsFrom(const Literal& exact, const Literal& value);

// Errors relative to the exact result; absolute where that is zero.
struct RelativeErrors {
  double rms = 0, max = 0;
};
RelativeErrors Relative(const ErrorNorms& errors);

// `errors` divided by `yardstick`: the larger of the ratios of the two norms. A yardstick below `floor` counts as `floor`.
// 0 if there is no error.
double TimesAsFar(const RelativeErrors& errors, const RelativeErrors& yardstick, double floor);

}  // namespace toroid
