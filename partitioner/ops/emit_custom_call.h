// Custom calls in the program of one partition.
#ifndef TOROID_PARTITIONER_OPS_EMIT_CUSTOM_CALL_H_
#define TOROID_PARTITIONER_OPS_EMIT_CUSTOM_CALL_H_

#include <functional>
#include <vector>

#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// A custom call on local operands with a local result, one instruction per result leaf. The callee was compiled for
// the layouts that the call states: operands are copied to them and results from them, so that all around it stays
// row-major, and the shapes in its operand constraints become those of the local operands.
std::vector<Instruction*> EmitCustomCall(
    SpmdBuilder& b, const Instruction& call, absl::Span<Instruction* const> operands,
    const Shape& local_result, const std::function<Computation*(const Computation*)>& copy_computation);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_EMIT_CUSTOM_CALL_H_
