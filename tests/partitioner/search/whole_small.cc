#include "tests/partitioner/search/whole_small.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "partitioner/search/strategies.h"

namespace toroid {
namespace {

constexpr int64_t kMostBytes = 1 << 16;

}  // namespace

std::vector<PricedPlan> KeepSmallWhole(const SearchProblem& problem, const PricedPlan& from) {
  const PreparedProgram& program = problem.memo->program();
  std::vector<bool> is_fixed(program.graph->num_tensors(), false);
  for (const int t : BoundaryTensors(program)) is_fixed[t] = true;
  Plan plan = from.plan;
  for (int t = 0; t < program.graph->num_tensors(); ++t) {
    const Shape& shape = program.graph->shape(t);
    if (is_fixed[t] || program.annotations.tensor[t] || !shape.IsArray()) continue;
    if (shape.ByteSize() <= kMostBytes) plan.shardings[t] = Sharding::Replicated(shape.rank());
  }
  if (plan.shardings == from.plan.shardings) return {};
  plan.ops.clear();
  const std::optional<PricedPlan> whole =
      DecideGreedily(std::move(plan), *from.policy, /*fixed_outputs=*/false, problem.memo);
  if (!whole || !Improves(whole->price, from.price, problem.by)) return {};
  return {*whole};
}

}  // namespace toroid
