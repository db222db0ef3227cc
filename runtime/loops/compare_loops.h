// Loops of compare: out[i] = a[i] direction b[i], as pred.
//
// FLOAT: IEEE partial order. TOTALORDER: the bits as sign-magnitude numbers, -NaN < -inf < ... < -0 < +0 <
// ... < +NaN. Integers are compared by their signedness, pred as unsigned; complex numbers have EQ and NE
// only.
#pragma once

#include "absl/strings/string_view.h"
#include "runtime/loops/loop_of_two.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// `direction` is EQ, NE, GE, GT, LE or LT; `total` asks for the total order of floats. Null if the direction is not defined on
// the type.
TOROID_PER_LEVEL(FindCompareLoop, BinaryLoop(absl::string_view direction, bool total, PrimitiveType type));

}  // namespace toroid
