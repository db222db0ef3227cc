// Callers cannot always take parts of unequal size. Where propagation cuts parameters or outputs unevenly without being
// asked to, this proposes the plan of a propagation that may cut them only evenly.
//
// All such arrays are restricted at first, then the outputs alone, then the parameters alone. The first plan that costs no
// more than `from` is proposed.
// Example: f32[10] over 4 devices by chance; over 2 of them each has 5.
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "partitioner/search/strategies.h"

namespace toroid {
namespace {

// The parameters and outputs that the plan cuts unevenly in a dimension for which no annotation asks for that cut.
std::vector<int> UnevenByChance(const PreparedProgram& program, const ShardingPlan& plan) {
  std::vector<int> uneven;
  for (const int t : BoundaryTensors(program)) {
    const Shape& shape = program.graph->shape(t);
    const std::optional<Annotation>& asked = program.annotations.tensor[t];
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) % program.annotations.mesh.Product(plan[t].dims[d]) == 0) continue;
      if (asked && asked->sharding.dims[d] == plan[t].dims[d]) continue;
      uneven.push_back(t);
      break;
    }
  }
  return uneven;
}

}  // namespace

std::vector<PricedPlan> CutEvenly(const SearchProblem& problem, const PricedPlan& from) {
  const PreparedProgram& program = problem.memo->program();
  const std::vector<int> uneven = UnevenByChance(program, from.plan.shardings);
  if (uneven.empty()) return {};
  const absl::flat_hash_set<int> outputs(program.graph->outputs().begin(), program.graph->outputs().end());
  enum Which { kAll, kOutputs, kParameters };
  for (const Which which : {kAll, kOutputs, kParameters}) {
    std::vector<bool> even(program.graph->num_tensors(), false);
    bool any = false;
    for (const int t : uneven) {
      even[t] = which == kAll || outputs.contains(t) == (which == kOutputs);
      any |= even[t];
    }
    if (!any) continue;
    std::optional<PricedPlan> plan = Propagated(*from.policy, problem.memo, even);
    if (!plan || plan->price.flops > from.price.flops || plan->price.sent_bytes > from.price.sent_bytes)
      continue;
    plan->plan.form = from.plan.form;
    std::vector<PricedPlan> plans;
    plans.push_back(*std::move(plan));
    return plans;
  }
  return {};
}

}  // namespace toroid
