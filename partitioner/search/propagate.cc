#include "partitioner/search/propagate.h"

#include <utility>

namespace toroid {

std::vector<int> BoundaryTensors(const PreparedProgram& program) {
  std::vector<int> tensors;
  for (const Instruction* parameter : program.flat->entry()->parameters()) {
    for (const int leaf : program.graph->Leaves(*parameter)) tensors.push_back(leaf);
  }
  tensors.insert(tensors.end(), program.graph->outputs().begin(), program.graph->outputs().end());
  return tensors;
}

std::optional<PricedPlan> Propagated(const AssignmentPolicy& policy, PlanMemo* memo,
                                     const std::vector<bool>& even) {
  const PreparedProgram& program = memo->program();
  std::vector<bool> at_boundary(program.graph->num_tensors(), false);
  for (const int t : BoundaryTensors(program)) at_boundary[t] = true;
  Plan plan;
  plan.shardings = ProposeShardings(program, program.annotations, even);
  policy.AdjustPlan(at_boundary, &plan.shardings);
  return DecideGreedily(std::move(plan), policy, /*fixed_outputs=*/false, memo);
}

}  // namespace toroid
