// Finds plans of a program: the first one by propagation, then those that strategies make from it.
#pragma once

#include <vector>

#include "partitioner/search/strategies.h"

namespace toroid {

struct FoundPlans {
  PricedPlan first;               // By propagation; in equal parts if that costs no more.
  std::vector<PricedPlan> plans;  // At most three, the best first.
  std::vector<PricedPlan>
      earlier;    // Those that the plans improved on, in the order in which they were found.
  Comparison by;  // Of the plans.
  double propagate_seconds = 0;
};

// Errors: kInvalidArgument if there is no plan at all, as where a manual region needs a value that is cut over its axes.
absl::StatusOr<FoundPlans> FindPlans(const PreparedProgram& program, ProgramForm form,
                                     const PartitionOptions& options);

}  // namespace toroid
