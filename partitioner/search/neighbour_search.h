// Improves the plan of propagation by trying other shardings of single tensors.
//
// Propagation and rewriting decide each op alone. If the ops of a chain or a diamond disagree, the choice
// that is best for one op may cost later ops more. The search visits the ops around which the plan moves
// data, most bytes first. For each tensor of such an op it tries three kinds of sharding: the one that the
// op would choose if the tensor were free, those that each other tensor of the op implies, and replicated.
// The tensor's producer computes it in this sharding; or, for an operand, a copy in this sharding is made
// before its users, or the tensors that it is computed from are copied before theirs. The change is
// propagated, the candidate program is written, and the caller decides whether the change stays. If none
// stays, the search tries to cut one or two dimensions of the tensor over the axis lists that cut any of
// the op's tensors.
//
// The number of programs written is bounded, so that the time is linear in their size.
//
// Example on 4 devices: h is cut by columns for tanh(h) w, but its two other users take rows. Three moves of
// h become one move of w.
#ifndef TOROID_PARTITIONER_SEARCH_NEIGHBOUR_SEARCH_H_
#define TOROID_PARTITIONER_SEARCH_NEIGHBOUR_SEARCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

struct NeighbourSearch {
  PreparedProgram* program = nullptr;  // Changes that stay are added to its annotations.
  std::vector<bool> fixed;             // By tensor: whether its sharding must not change.
  // Writes the program under a plan. If it is better than the best one so far, it becomes the best one and
  // the result is true.
  std::function<absl::StatusOr<bool>(const ShardingPlan& plan)> improves;
  // Budgets: programs to write, and moves that the planner may look at to plan reshardings.
  int64_t max_programs = 0;
  int64_t max_plan_steps = 0;
};

// Replaces `plan` by the best plan found.
// Errors: those of `improves`.
absl::Status SearchNeighbours(const NeighbourSearch& search, ShardingPlan* plan);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_NEIGHBOUR_SEARCH_H_
