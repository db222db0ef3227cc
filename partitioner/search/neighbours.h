// Improves a plan by trying other shardings of single tensors.
//
// Propagation and rewriting decide each op alone. If the ops of a chain or a diamond disagree, the choice
// that is best for one op may cost later ops more. The search visits the ops around which the plan moves
// data, most bytes first. For each tensor of such an op it tries three kinds of sharding: the one that the
// op would choose if the tensor were free, those that each other tensor of the op implies, and replicated.
// The tensor's producer computes it in this sharding; or, for an operand, a copy in this sharding is made
// before its users, or the tensors that it is computed from are copied before theirs. The change is
// propagated and the plan is priced; a better one stays. If none
// stays, the search tries to cut one or two dimensions of the tensor over the axis lists that cut any of
// the op's tensors.
//
// The number of plans is bounded, so that the time is linear in the size of the program.
//
// Example on 4 devices: h is cut by columns for tanh(h) w, but its two other users take rows. Three moves of
// h become one move of w.
#pragma once

#include "partitioner/search/strategy.h"

namespace toroid {

// problem.steps: instructions of all plans that may be priced.
std::vector<PricedPlan> ChangeNeighbours(const SearchProblem& problem, const PricedPlan& from);

}  // namespace toroid
