// map:  out[i] = to_apply(x_0[i], ..., x_{n-1}[i]), a scalar computation on all elements at once.
// scan: step t (from the end if reversed): to_apply(slices of the inputs at t, carries) -> (outputs,
// carries);
//       the results are the outputs, stacked along the dimension, and the last carries.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteMap(OpCall& call);
absl::Status ExecuteScan(OpCall& call);

}  // namespace toroid
