// The one way from an op of the flow graph to the question of how it is best computed.
//
// Propagation, rewriting and the evaluation of plans ask it of the same ops; what they know of where tensors lie
// differs, and is the argument.
#ifndef TOROID_PARTITIONER_PROPAGATION_FLOW_PROBLEM_H_
#define TOROID_PARTITIONER_PROPAGATION_FLOW_PROBLEM_H_

#include "absl/functional/function_ref.h"
#include "partitioner/assign/assignment.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// The facts known about a tensor.
struct TensorState {
  absl::InlinedVector<Sharding, 2> places;  // As in TensorView.
  bool free = false;                        // As in TensorView.
  uint64_t open = 0;                        // As in TensorView.
  AxisSet reserved = 0;                     // Axes that an op with this operand or result may not use.
};

// `state_of(tensor, is_result)` is asked once for each operand and result, in order. The problem refers to the graph.
AssignmentProblem ProblemOf(const FlowGraph& graph, const FlowOp& op,
                            absl::FunctionRef<TensorState(int tensor, bool is_result)> state_of);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_FLOW_PROBLEM_H_
