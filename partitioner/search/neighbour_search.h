// A better plan of shardings than propagation's, by looking one step further.
//
// Propagation and rewriting choose op by op. Where the ops of a chain or a diamond disagree, the choice that is best for
// one may cost the next ones more. For each op around which the plan moves data, most bytes first, every tensor of it is
// tried in the shardings that the op would give it if it were free, that each of its other tensors would, and whole: where
// it is computed, and made so before all its users, as is what it is computed from. What follows is propagated, and the
// program written and counted; the caller says which changes stay. Where none helps, all shardings are tried that the
// op's tensors suggest.
// Example, on 4 devices: h is cut by columns for tanh(h) w, but its two other users take rows. Three moves of h
// become one of w.
// The number of programs that are written is bounded, so that the time is linear in their size.
#ifndef TOROID_PARTITIONER_SEARCH_NEIGHBOUR_SEARCH_H_
#define TOROID_PARTITIONER_SEARCH_NEIGHBOUR_SEARCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

struct NeighbourSearch {
  PreparedProgram* program = nullptr;  // What stays is asked for in its annotations.
  std::vector<bool> fixed;             // By tensor: not to be tried.
  // True if the program under a plan is better than the best one so far; that is then the best one.
  std::function<absl::StatusOr<bool>(const ShardingPlan& plan)> improves;
  // Where it ends: programs written, and moves looked at to plan reshardings.
  int64_t max_programs = 0;
  int64_t max_plan_steps = 0;
};

// `plan` becomes the best one found.
// Errors: those of `improves`.
absl::Status SearchNeighbours(const NeighbourSearch& search, ShardingPlan* plan);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_NEIGHBOUR_SEARCH_H_
