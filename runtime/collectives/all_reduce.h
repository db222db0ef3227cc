// all-reduce: every member of a group gets to_apply folded over the group's values, element by element.
//
// n-ary: each operand is reduced by itself. all-reduce-start computes the result, all-reduce-done returns it.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteAllReduce(OpCall& call);
absl::Status ExecuteAllReduceStart(OpCall& call);
absl::Status ExecuteAllReduceDone(OpCall& call);

}  // namespace toroid
