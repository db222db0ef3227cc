// Decides a program op by op, and prices the result, without writing a module.
//
// Ops are decided in program order, each from the shardings in which its operands exist by then and those that the plan has
// for its results (op_decider.h). A value that is needed in another sharding is resharded from the version from which that
// costs least, and later ops find the new version, too (version_sets.h).
#pragma once

#include <optional>

#include "partitioner/assign/assignment.h"
#include "partitioner/plan/plan.h"
#include "partitioner/plan/plan_memo.h"
#include "partitioner/plan/price.h"

namespace toroid {

struct PricedPlan {
  Plan plan;  // With a decision for every op that is computed.
  Price price;
  const AssignmentPolicy* policy =
      nullptr;  // By which ops were decided; plans that are made from this one use it, too.
};

// Ops that the plan has decided keep their decisions. If `fixed_outputs`, results are returned in the plan's shardings;
// otherwise in those of OutputSharding, which become the plan's. nullopt if a value cannot be brought to
// a sharding that is needed. `memo`: that of the program.
std::optional<PricedPlan> DecideGreedily(Plan plan, const AssignmentPolicy& policy, bool fixed_outputs,
                                         PlanMemo* memo);

}  // namespace toroid
