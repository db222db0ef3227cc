// Strategies make plans from plans. Each is a function in a file of its own and has a row in strategies.cc.
//
// A strategy proposes plans. It writes no module and changes nothing of the program; FindPlans (find_plans.h) keeps the better
// ones by their prices (../plan/price.h).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "partitioner/plan/greedy_plan.h"

namespace toroid {

// Moves that the planner may look at to plan the reshardings of one strategy. They take some 30 ms.
inline constexpr int64_t kPlanSteps = 60000;

struct SearchProblem {
  PlanMemo* memo = nullptr;  // That of the program.
  Comparison by;             // Of plans.
  int64_t steps = 0;         // The budget of the strategy, in steps of its own.
};

struct Strategy {
  absl::string_view name;
  absl::string_view what;  // One line for --help.
  // Plans made from `from`, the best last.
  std::vector<PricedPlan> (*propose)(const SearchProblem& problem, const PricedPlan& from);
  // The budget unless the user names another, in steps of its own; 0: it needs none.
  int64_t steps = 0;
  // Whether a proposal replaces the plan it was made from even if it costs the same.
  bool is_preferred = false;
  // Whether its proposals stand beside the plan they were made from, as starts of later strategies.
  bool adds = false;
};

}  // namespace toroid
