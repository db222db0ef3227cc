// compare: out[i] = a[i] direction b[i].
//
// FLOAT: IEEE partial order. TOTALORDER: the bits as sign-magnitude numbers, -NaN < -inf < ... < -0 < +0 <
// ... < +NaN. Integers are compared by their signedness, pred as unsigned; complex numbers have EQ and NE
// only.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteCompare(OpCall& call);

}  // namespace toroid
