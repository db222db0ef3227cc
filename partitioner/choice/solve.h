// The cheapest choice that memory allows, with a proven bound.
//
//   problem -> smaller problem (reduction.h) -> rounds of { bound (dual_ascent.h), up to three searches (searcher.h) } -> choice
//
// The work of a round, one step, is the same whatever the number of threads, and what one of them finds is told to the others
// only between rounds: so the answer depends on the problem, the seed and the number of steps alone. When the bound no longer
// improves, branch and bound (branch_and_bound.h) takes its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/choice/problem.h"
#include "partitioner/choice/solve_options.h"

namespace toroid {

struct Solution {
  std::vector<int> choice;  // By node.
  int64_t cost = 0;         // By Evaluate.
  int64_t bound = 0;        // No choice that keeps the limit costs less.
  int64_t peak = 0;         // By Evaluate: at most the limit.
  int64_t steps = 0;
  std::string ended_by;  // "optimal", "gap", "standstill", "steps", "seconds" or "cancelled".
};

// Errors: kInvalidArgument if the problem is malformed (VerifyChoiceProblem);
//         kFailedPrecondition if forbidden combinations leave no choice, naming a node;
//         kResourceExhausted if memory never suffices: the least possible peak (or, where that is not proven, the least that
//         was found) and the nodes that use the most at its time; also, saying so, if the search ended without a choice that
//         fits though one may exist;
//         kCancelled if it was cancelled before anything was found.
absl::StatusOr<Solution> Solve(const ChoiceProblem& problem, const SolveOptions& options);

}  // namespace toroid
