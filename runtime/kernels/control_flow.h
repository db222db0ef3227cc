// call, fusion, while, conditional: ops that run other computations.
//
// Devices that disagree on a predicate run in groups that agree: the rows of a group are taken out, run as a
// mesh of their own, and put back. Collectives inside see only the group's devices. The asynchronous wrappers
// compute at the start op and return the result at the done op.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteCall(OpCall& call);
absl::Status ExecuteFusion(OpCall& call);
absl::Status ExecuteWhile(OpCall& call);
// A pred index selects branch 0 if true. An s32 index outside [0, n) selects the last branch.
absl::Status ExecuteConditional(OpCall& call);

absl::Status ExecuteAsyncStart(OpCall& call);
absl::Status ExecuteAsyncUpdate(OpCall& call);
absl::Status ExecuteAsyncDone(OpCall& call);

}  // namespace toroid
