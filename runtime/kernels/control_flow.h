// call, fusion, while, conditional: running other computations.
//
// Where devices disagree on a predicate they run in groups that agree: the rows of the active devices are
// taken out, run as a mesh of their own, and put back. Collectives inside see only the active devices. The
// asynchronous wrappers compute at the start and hand out the result when done.
#ifndef TOROID_RUNTIME_KERNELS_CONTROL_FLOW_H_
#define TOROID_RUNTIME_KERNELS_CONTROL_FLOW_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteCall(OpCall& call);
absl::Status ExecuteFusion(OpCall& call);
absl::Status ExecuteWhile(OpCall& call);
// A pred index: true runs branch 0. An s32 index outside [0, n) runs the last branch.
absl::Status ExecuteConditional(OpCall& call);

absl::Status ExecuteAsyncStart(OpCall& call);
absl::Status ExecuteAsyncUpdate(OpCall& call);
absl::Status ExecuteAsyncDone(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_CONTROL_FLOW_H_
