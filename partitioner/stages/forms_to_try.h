// Other forms of a program that might send less: those in which what moves data for the order of elements alone is gone or behind.
#ifndef TOROID_PARTITIONER_STAGES_FORMS_TO_TRY_H_
#define TOROID_PARTITIONER_STAGES_FORMS_TO_TRY_H_

#include <vector>

#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// kUnmergedDims: the plan cuts the operand of some reshape along a dimension that is merged into one which begins before it, as
// columns of f32[12,64] to f32[768]. kLateReversals: it cuts the operand of some reversal along a dimension that is reversed.
std::vector<ProgramForm> FormsToTry(const FlowGraph& graph, const ShardingPlan& plan);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_FORMS_TO_TRY_H_
