// scatter: out = operands; then for every batch coordinate b of the indices and window offset o of the
// updates
//   out[start(b) + o] = to_apply(out[start(b) + o], update[b, o])
// Starts are as in gather but not clamped: a window that does not lie wholly inside the operand is dropped.
// Updates of one place are combined in row-major order of the updates. In place where the operand is not used
// again.
//
// One-op bodies run update by update; any other body (also over several operands) runs on rounds of updates
// whose places are distinct, all updates of a round at once.
#ifndef TOROID_RUNTIME_KERNELS_SCATTER_H_
#define TOROID_RUNTIME_KERNELS_SCATTER_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteScatter(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_SCATTER_H_
