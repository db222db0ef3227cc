// reduce-scatter: to_apply folded over the group; member i keeps block i along the dimension.
// Errors: kInvalidArgument if the group size does not divide the dimension.
#ifndef TOROID_RUNTIME_COLLECTIVES_REDUCE_SCATTER_H_
#define TOROID_RUNTIME_COLLECTIVES_REDUCE_SCATTER_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteReduceScatter(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_COLLECTIVES_REDUCE_SCATTER_H_
