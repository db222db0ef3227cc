// all-gather: every member gets the pieces of its group, in group order, along the dimension.
//
// all-gather-start gives (operand, result), or ((operands), (results)); all-gather-done returns the result.
// Errors: kInvalidArgument for groups of different sizes.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteAllGather(OpCall& call);
absl::Status ExecuteAllGatherStart(OpCall& call);
absl::Status ExecuteAllGatherDone(OpCall& call);

}  // namespace toroid
