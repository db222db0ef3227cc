// How far a result lies from an exact one, per output.
//
//   rms = sqrt(mean |value - exact|^2)     max = max |value - exact|
//
// The exact result comes from a run without rounding (promote.h): its floats are f64, its complex numbers c128.
// Elements that are NaN in both, or the same infinity, count as 0; any other NaN or infinity as an infinite error.
// Integers and booleans: at least 1 where they differ.
#ifndef TOROID_RUNTIME_NUMERICS_ERROR_NORMS_H_
#define TOROID_RUNTIME_NUMERICS_ERROR_NORMS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/literal.h"

namespace toroid {

struct ErrorNorms {
  double rms = 0, max = 0;              // Of value - exact.
  double exact_rms = 0, exact_max = 0;  // Of the finite elements of the exact result.
  int64_t elements = 0;
};

// One entry per array leaf, in pre-order. Requires: shapes that differ in float types alone.
std::vector<ErrorNorms> ErrorsFrom(const Literal& exact, const Literal& value);

// How many times as far from the exact result `value` is as `yardstick`, in the norm where that is more. An error of the
// yardstick below `floor`, relative to the exact result, counts as `floor`. 0 where `value` has no error.
double TimesAsFar(const ErrorNorms& value, const ErrorNorms& yardstick, double floor);

}  // namespace toroid

#endif  // TOROID_RUNTIME_NUMERICS_ERROR_NORMS_H_
