// Reduces rows over device groups, for all-reduce and reduce-scatter.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "runtime/collectives/scattered_blocks.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Fills `result` with the element-wise reduction of operand i over the members of each group, in group order:
// to_apply(to_apply(x_0, x_1), x_2) ...; narrow floats of one-op bodies are summed in f32 and rounded once.
// Every member gets the total, or with `blocks` its block of the total. A uniform result is that of the first
// member of the first group. Errors: those of to_apply and of the transport, kResourceExhausted.
absl::Status ReduceGroups(OpCall& call, int i, const std::vector<std::vector<int64_t>>& groups,
                          const ScatteredBlocks* blocks, MeshBuffer* result);

}  // namespace toroid
