// Running groups.
#pragma once

#include "absl/status/status.h"
#include "runtime/groups/group.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// A kernel: runs the group that the step keeps as its cache (Group). Operand i is input i, result i output i. Outputs that depend
// on uniform inputs alone are uniform.
// Errors: kResourceExhausted.
absl::Status ExecuteGroup(OpCall& call);

// The group that a step runs; null if it runs a single instruction.
const Group* GroupOf(const Step& step);

// Runs a group of a call's operands and results.
absl::Status RunGroup(Group& group, OpCall& call);

}  // namespace toroid
