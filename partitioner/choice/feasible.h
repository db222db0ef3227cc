// Whether there is a choice that keeps the limit, whatever it costs.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/choice/problem.h"
#include "partitioner/choice/solve_options.h"

namespace toroid {

struct Feasibility {
  std::vector<int> choice;  // Empty if none was found,
  bool impossible = false;  // and then whether there is none.
};

// Requires: the problem is verified. Errors: as Solve for problems without an allowed choice.
absl::StatusOr<Feasibility> FindFeasible(const ChoiceProblem& problem, const SolveOptions& options);

}  // namespace toroid
