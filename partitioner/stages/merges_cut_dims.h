// Reshapes that gather for no reason but the order of elements.
#ifndef TOROID_PARTITIONER_STAGES_MERGES_CUT_DIMS_H_
#define TOROID_PARTITIONER_STAGES_MERGES_CUT_DIMS_H_

#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// Whether the plan cuts the operand of some reshape along a dimension that is merged into one which begins before it.
// Example: f32[12,64] to f32[768], columns over 8 devices.
bool MergesCutDims(const FlowGraph& graph, const ShardingPlan& plan);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_MERGES_CUT_DIMS_H_
