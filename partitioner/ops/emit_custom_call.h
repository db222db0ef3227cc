// Custom calls in the program of one partition.
#pragma once

#include <functional>
#include <vector>

#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// Emits `call` on local operands with the shape `local_result`, and returns one instruction per result leaf.
// The callee was compiled for the layouts that the call states, and all other instructions are row-major:
// operands are copied to the stated layouts, and results from them. The call's operand constraints get the
// shapes of the local operands.
std::vector<Instruction*> EmitCustomCall(
    SpmdBuilder& b, const Instruction& call, absl::Span<Instruction* const> operands,
    const Shape& local_result, const std::function<Computation*(const Computation*)>& copy_computation);

}  // namespace toroid
