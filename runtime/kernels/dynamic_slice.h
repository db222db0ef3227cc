// dynamic-slice:        out = x[s .. s + sizes)
// dynamic-update-slice: out = x with x[s .. s + |update|) = update; in place if this is the last use of x
//
// The start in each dimension is clamped to [0, dim - size] in the index's own type: an unsigned "negative"
// start clamps to the upper end. Operands: x, (update,) one scalar index per dimension; older modules have
// one index vector.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteDynamicSlice(OpCall& call);
absl::Status ExecuteDynamicUpdateSlice(OpCall& call);

}  // namespace toroid
