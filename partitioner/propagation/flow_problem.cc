#include "partitioner/propagation/flow_problem.h"

#include <algorithm>
#include <utility>

namespace toroid {

AssignmentProblem ProblemOf(const FlowGraph& graph, const FlowOp& op,
                            absl::FunctionRef<TensorState(int tensor, bool is_result)> state_of) {
  AssignmentProblem problem;
  problem.op = op.instruction;
  problem.rule = op.rule;
  const auto view = [&](int tensor, bool is_result) {
    TensorState state = state_of(tensor, is_result);
    problem.reserved |= state.reserved;
    TensorView view;
    view.dims = graph.shape(tensor).dims();
    view.width = std::max<int64_t>(1, ByteWidth(graph.shape(tensor).element_type()));
    view.places = std::move(state.places);
    view.free = state.free;
    view.open = state.open;
    return view;
  };
  for (const int t : op.operands) problem.operands.push_back(view(t, false));
  for (const int t : op.results) problem.results.push_back(view(t, true));
  return problem;
}

}  // namespace toroid
