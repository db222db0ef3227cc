// reduce-scatter: to_apply folded over the group; member i keeps block i along the dimension.
// Errors: kInvalidArgument if the group size does not divide the dimension.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteReduceScatter(OpCall& call);

}  // namespace toroid
