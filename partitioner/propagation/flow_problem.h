// Builds the AssignmentProblem (../assign/assignment.h) of an op of the flow graph.
//
// Propagation, rewriting and the evaluation of plans all call ProblemOf; each passes what it knows about the
// shardings of the op's tensors.
#pragma once

#include "absl/functional/function_ref.h"
#include "partitioner/assign/assignment.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// The caller's knowledge of a tensor.
struct TensorState {
  absl::InlinedVector<Sharding, 2> places;  // As in TensorView.
  bool free = false;                        // As in TensorView.
  uint64_t open = 0;                        // As in TensorView.
  AxisSet reserved = 0;                     // Axes that an op with this operand or result may not use.
};

// Calls `state_of(tensor, is_result)` once for each operand and then each result, in order. The returned
// problem holds pointers into the graph.
AssignmentProblem ProblemOf(const FlowGraph& graph, const FlowOp& op,
                            absl::FunctionRef<TensorState(int tensor, bool is_result)> state_of);

}  // namespace toroid
