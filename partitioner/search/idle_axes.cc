// Proposes plans whose contractions are also cut over axes that their cheapest assignments leave idle.
//
// Each device then computes less; moving the operands or the results may send more. Three prices of a flop in bytes are tried
// (IdleAxes, ../assign/assignment.h); of the plans that are better than `from`, the best one that sends at most 9 % more is
// proposed, and the best one that sends up to what the first plan sends.
#include <optional>
#include <utility>

#include "partitioner/search/strategies.h"

namespace toroid {

std::vector<PricedPlan> CutOverIdleAxes(const SearchProblem& problem, const PricedPlan& from) {
  std::vector<PricedPlan> cut, proposed;
  if (from.price.flops == 0 || from.price.sent_bytes == 0) return proposed;
  for (const IdleAxes idle_axes : {IdleAxes::kCutForFewFlops, IdleAxes::kCutForFlops, IdleAxes::kCut}) {
    Plan undecided = from.plan;
    undecided.ops.clear();
    std::optional<PricedPlan> plan =
        DecideGreedily(std::move(undecided), CheapestAssignmentsOnIdleAxes(idle_axes),
                       /*fixed_outputs=*/false, problem.memo);
    if (!plan || plan->price.flops == from.price.flops) break;  // No axis is idle.
    cut.push_back(*std::move(plan));
  }
  const auto choose = [&](double usual_bytes) {
    Comparison by = problem.by;
    by.usual_bytes = usual_bytes;
    int chosen = -1;
    for (int i = 0; i < static_cast<int>(cut.size()); ++i) {
      if (Better(cut[i].price, chosen < 0 ? from.price : cut[chosen].price, by)) chosen = i;
    }
    return chosen;
  };
  const int at_few_bytes = choose(0), at_usual_bytes = choose(problem.by.usual_bytes);
  if (at_few_bytes >= 0) proposed.push_back(cut[at_few_bytes]);
  if (at_usual_bytes >= 0 && at_usual_bytes != at_few_bytes) proposed.push_back(cut[at_usual_bytes]);
  return proposed;
}

}  // namespace toroid
