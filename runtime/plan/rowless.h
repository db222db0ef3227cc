// Steps on a rank that has none of the active devices. The rank stays in step with the others: it computes
// uniform values and takes part in calls, collectives and counters; other results have no rows, so nothing is
// computed.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Executes a step on a mesh without rows here. Errors: those of the kernel.
absl::Status ExecuteWithoutRows(Kernel kernel, OpCall& call);

}  // namespace toroid
