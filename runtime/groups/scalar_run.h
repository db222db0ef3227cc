// Runs a group of one element: the counters and conditions of loops. No blocks, no threads, no scratch memory.
#pragma once

#include "absl/status/status.h"
#include "runtime/groups/block_program.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Most registers of a program that may run here.
inline constexpr size_t kMostScalars = 64;

// For a group of one element and one row of devices. Errors: kResourceExhausted.
absl::Status RunOneElement(const Group& group, const BlockProgram& program, bool uniform, OpCall& call);

}  // namespace toroid
