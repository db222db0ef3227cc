// Equivalent forms of a program that may communicate less: reshapes or reversals, which only reorder
// elements, are removed or delayed.
#pragma once

#include <vector>

#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// kUnmergedDims if the plan cuts the operand of a reshape along a dimension that is merged into the one
// before it, as the columns of f32[12,64] in a reshape to f32[768]. kLateReversals if it cuts the operand of
// a reverse along a dimension that is reversed.
std::vector<ProgramForm> FormsToTry(const FlowGraph& graph, const ShardingPlan& plan);

}  // namespace toroid
