// Strategies make plans from plans. To add one: a function in a file of its own, its declaration below, and its row in
// strategies.cc (docs/adding_a_strategy.md).
//
// A strategy proposes plans. It writes no module and changes nothing of the program; FindPlans (find_plans.h) keeps the better
// ones by their prices (../plan/price.h).
// BUILD: srcs += "even_cuts.cc", "frontier_search.cc", "idle_axes.cc", "neighbours.cc"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
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

// The strategies. What each does stands at the top of its file.
std::vector<PricedPlan> CutEvenly(const SearchProblem& problem, const PricedPlan& from);  // even_cuts.cc
std::vector<PricedPlan> CutOverIdleAxes(const SearchProblem& problem,
                                        const PricedPlan& from);  // idle_axes.cc
std::vector<PricedPlan> ChangeNeighbours(const SearchProblem& problem,
                                         const PricedPlan& from);  // neighbours.cc
std::vector<PricedPlan> DecideTogether(const SearchProblem& problem,
                                       const PricedPlan& from);  // frontier_search.cc

// The tensors that the caller of the program sees: parameters and outputs.
std::vector<int> BoundaryTensors(const PreparedProgram& program);

// The first plan: shardings by propagation, ops decided one by one. `even`: by tensor, whether it may be cut only into equal
// parts; empty: no tensor is so restricted. nullopt as for DecideGreedily.
std::optional<PricedPlan> Propagated(const AssignmentPolicy& policy, PlanMemo* memo,
                                     const std::vector<bool>& even = {});

// In the order in which they run by default.
absl::Span<const Strategy> Strategies();

// The entry by which all strategies are tried on equivalent forms of the program, too (../stages/spmd_partitioner.h).
inline constexpr absl::string_view kForms = "forms";

struct ListedStrategy {
  const Strategy* strategy = nullptr;
  int64_t steps = 0;  // Its budget.
};

// The strategies of a list of names, in its order, without kForms. NAME:steps=NUMBER sets a budget.
// Errors: kInvalidArgument for an unknown name (the message lists the known ones), for a malformed number, and for a budget of
// a strategy that has none.
absl::StatusOr<std::vector<ListedStrategy>> ListStrategies(absl::Span<const std::string> entries);

}  // namespace toroid
