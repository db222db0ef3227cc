// How the ops of a program are best computed together: dynamic programming over the values that are live between two ops.
//
// Ops are taken in order. A state says in which shardings each value is there by then; every choice of an op (op_choices.h), with
// partial operands reduced first or passed on, leads from it to another one, at the cost of what it sends. Of paths to one
// state those are kept that no other beats in both cost and flops. Where a small program has few enough choices for all of them
// to be tried in all states, that is the best program there is. Of larger ones those ops are chosen anew
// together that lie around one that moves data, with all others as they are, ever further around the next such op;
// and of many states those stay that cost least so far, plus what the next users of their values will ask for.
// Loops, branches and manual regions keep the shardings of the plan at their ends; what is in a loop counts with its trips.
//
// Example, on 2 devices, x cut by rows: y = dot(x, w) is needed by columns, z = dot(y, v) whole. Op by op y is best made
// by rows; gathering x once costs less than moving y and z.
#ifndef TOROID_PARTITIONER_SEARCH_FRONTIER_SEARCH_H_
#define TOROID_PARTITIONER_SEARCH_FRONTIER_SEARCH_H_

#include <cstdint>
#include <optional>

#include "partitioner/prepare/prepared_program.h"
#include "partitioner/rewrite/op_decision.h"
#include "partitioner/search/op_choices.h"

namespace toroid {

struct FrontierSearch {
  const PreparedProgram* program = nullptr;
  const ShardingPlan* plan = nullptr;
  const DecidedOps* current = nullptr;  // How the ops are computed so far.
  AxisUnits units;                      // What may cut a factor: UnitsOf the plan, or SingleAxes.
  int64_t max_steps = 0;                // How many choices of ops are looked at in all states together,
  int64_t max_plan_steps = 0;           // and how many moves to plan reshardings.
};

// Decisions that by the model cost less than the current ones and compute no more flops; nullopt if none were found.
std::optional<DecidedOps> SearchFrontier(const FrontierSearch& search);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_FRONTIER_SEARCH_H_
