// all-gather: every member gets the pieces of its group, in group order, along the dimension.
//
// all-gather-start gives (operand, result), or ((operands), (results)); all-gather-done returns the result.
// Errors: kInvalidArgument for groups of different sizes.
#ifndef TOROID_RUNTIME_COLLECTIVES_ALL_GATHER_H_
#define TOROID_RUNTIME_COLLECTIVES_ALL_GATHER_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteAllGather(OpCall& call);
absl::Status ExecuteAllGatherStart(OpCall& call);
absl::Status ExecuteAllGatherDone(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_COLLECTIVES_ALL_GATHER_H_
