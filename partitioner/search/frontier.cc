#include "partitioner/search/frontier.h"

#include <optional>
#include <utility>

#include "partitioner/search/frontier_search.h"

namespace toroid {
namespace {

// In a mesh of at most this many prime-sized axes each axis is tried by itself.
constexpr int kFewAxes = 3;
constexpr double kMaxSentWithSplitAxes = 0.75;

}  // namespace

std::vector<PricedPlan> DecideTogether(const SearchProblem& problem, const PricedPlan& from) {
  std::vector<PricedPlan> proposed;
  if (from.price.sent_bytes == 0) return proposed;
  const PreparedProgram& program = problem.memo->program();
  const Mesh& mesh = program.annotations.mesh;
  const AxisUnits together = UnitsOf(mesh, from.plan.shardings);
  std::vector<AxisUnits> tried = {together};
  if (mesh.num_axes() <= kFewAxes && together != SingleAxes(mesh)) tried.push_back(SingleAxes(mesh));
  proposed.reserve(tried.size());  // `best` points into it.
  const PricedPlan* best = &from;
  for (size_t i = 0; i < tried.size(); ++i) {
    FrontierSearch search;
    search.memo = problem.memo;
    search.plan = &best->plan;
    search.units = tried[i];
    search.max_steps = problem.steps;
    search.max_plan_steps = kPlanSteps;
    std::optional<Plan> found = SearchFrontier(search);
    if (!found) continue;
    found->early.clear();  // The decisions say themselves where values are moved.
    std::optional<PricedPlan> plan =
        DecideGreedily(*std::move(found), *from.policy, /*fixed_outputs=*/true, problem.memo);
    if (!plan) continue;
    if (i > 0 && plan->price.sent_bytes > kMaxSentWithSplitAxes * from.price.sent_bytes) continue;
    if (!Improves(plan->price, best->price, problem.by)) continue;
    proposed.push_back(*std::move(plan));
    best = &proposed.back();
  }
  return proposed;
}

}  // namespace toroid
