// Steps on a rank that has none of the active devices. It keeps in step with the others: what is uniform is computed
// here as there, calls, collectives and counters take place; of everything else there is nothing to compute.
#ifndef TOROID_RUNTIME_PLAN_ROWLESS_H_
#define TOROID_RUNTIME_PLAN_ROWLESS_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Executes a step of a mesh without rows here. Errors: those of the kernel.
absl::Status ExecuteWithoutRows(Kernel kernel, OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_PLAN_ROWLESS_H_
