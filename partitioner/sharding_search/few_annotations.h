// The few annotations from which propagation makes a program as good as a plan that decides everything.
//
// Arguments that the plan cuts are annotated first. Where propagation then makes a program that takes longer than the plan,
// values inside the program are annotated, those first that save most. At last each annotation is left out whose program is as
// good without.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "partitioner/plan/greedy_plan.h"
#include "partitioner/sharding_search/annotation_groups.h"
#include "partitioner/sharding_search/program_state.h"
#include "partitioner/sharding_search/repeated_ops.h"
#include "partitioner/sharding_search/step_prices.h"

namespace toroid {

struct FewAnnotations {
  std::vector<SuggestedAnnotation> annotations;  // Arguments first.
  PricedPlan plan;                               // What propagation makes of them.
};

// What propagation makes of annotations, with new values of arguments in the arguments' shardings. nullopt: no plan at all.
std::optional<PricedPlan> PlanOfAnnotations(const std::vector<SuggestedAnnotation>& annotations,
                                            ProgramForm form, const ProgramState& state, PlanMemo* memo);

// What the annotations are to reach.
struct WantedPlan {
  const PricedPlan& plan;  // Decides all ops.
  const Kinds& kinds;
  const std::vector<std::pair<int, int>>&
      state;                              // Arguments, and the outputs that are returned in their shardings.
  const std::vector<std::string>& names;  // By tensor; those without a name are not annotated.
  const StepPrices& prices;
  const std::vector<TensorLife>& lives;
  bool keeps_memory = false;  // Whether a program may not need more memory than the plan, either.
  double tolerance = 0.01;    // By which part a program may take longer than the plan.
};

// nullopt if propagation finds no plan at all.
std::optional<FewAnnotations> FindFewAnnotations(const WantedPlan& wanted, PlanMemo* memo);

}  // namespace toroid
