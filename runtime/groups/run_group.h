// Running groups.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/groups/block_program.h"
#include "runtime/groups/group.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// A kernel: runs the group that the step keeps as its cache (Group). Operand i is input i, result i output i. Outputs that
// depend on uniform inputs alone are uniform.
// Errors: kResourceExhausted.
absl::Status ExecuteGroup(OpCall& call);

// The group that a step runs; null if it runs a single instruction.
const Group* GroupOf(const Step& step);

// What a group runs over its blocks to compute some outputs, bit i of `outputs` for output i. Made at the first call.
const BlockProgram& ProgramFor(const Group& group, uint64_t outputs);

// Bytes of the sums that blocks make for reductions, beside the outputs.
int64_t SumBytes(const Group& group, const BlockProgram& program, int64_t copies);

// Runs a group of a call's operands and results.
absl::Status RunGroup(Group& group, OpCall& call);

}  // namespace toroid
