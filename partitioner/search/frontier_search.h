// Decides the ops of a program together, by dynamic programming over the values that are live between two
// ops.
//
// The search takes ops in program order. A state is the set of shardings in which each live value exists
// (version_sets.h). Each choice of an op (op_choices.h), with partial operands reduced first or passed on,
// leads from one state to another at the cost of its communication, memory traffic and, if the cost model
// prices them, flops. Several paths lead to a state; those that no other path beats in both cost and flops
// are kept.
//
// If the budget allows it, all ops are decided at once; if moreover no state had to be dropped, the result is
// the cheapest program by the model. In larger programs the search takes the ops that move data, dearest
// first, and decides the ops around each anew while all other ops keep their decisions. What it finds for one part, or that it
// finds nothing, holds for all parts that are alike, so that the layers of a model are searched once. If there are too many
// states, those stay that have the lowest cost so far plus the estimated cost of the next uses of their
// values. Values at the ends of loops, branches and manual regions keep the plan's shardings. Ops in a loop
// count once per trip.
//
// Example on 2 devices: x is cut by rows; y = dot(x, w) is needed by columns and z = dot(y, v) replicated. If
// each op is decided alone, y is computed by rows. Gathering x once costs less than moving y and z.
#pragma once

#include <cstdint>
#include <optional>

#include "partitioner/plan/op_choices.h"
#include "partitioner/plan/plan.h"
#include "partitioner/plan/plan_memo.h"

namespace toroid {

struct FrontierSearch {
  PlanMemo* memo = nullptr;
  const Plan* plan = nullptr;  // With decisions for all ops.
  AxisUnits units;             // The runs of axes that may cut a factor: UnitsOf the plan, or SingleAxes.
  int64_t max_steps = 0;       // Budget: pairs of a state and a choice to evaluate.
  int64_t max_plan_steps = 0;  // Budget: moves that the planner may look at to plan reshardings.
};

// Returns a plan with other decisions that by the model costs less and computes no more flops; nullopt if it finds none.
std::optional<Plan> SearchFrontier(const FrontierSearch& search);

}  // namespace toroid
