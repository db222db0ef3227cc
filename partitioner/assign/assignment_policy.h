// Policies that choose the assignment of each op.
//
// PartitionOptions::policy gives the partitioner its policy. The default one chooses the cheapest assignment
// (assignment.h). Another one runs every op on replicated arrays: the slowest correct partitioning, a
// reference for tests. To try a policy, derive a class and give it to PartitionModule. The partitioned
// program is correct for all choices that cut only factors that the op's local program can cut
// (CanCutLocally) and use no reserved axes.
#pragma once

#include <vector>

#include "partitioner/assign/assignment.h"

namespace toroid {

class AssignmentPolicy {
 public:
  virtual ~AssignmentPolicy() = default;

  // Changes the shardings that propagation found, indexed by tensor. Must keep those of the program's
  // parameters and outputs, which are true in `at_boundary`: the program's caller relies on them.
  virtual void AdjustPlan(const std::vector<bool>& at_boundary, std::vector<Sharding>* plan) const;

  virtual Assignment Choose(const AssignmentProblem& problem, const Pricing& pricing) const = 0;
};

// Calls ChooseAssignment for every op, and does not change the plan.
const AssignmentPolicy& CheapestAssignments();

// The same, with contractions also cut over idle axes (IdleAxes). Saving work in one op may make other ops
// send more, so callers compare whole programs under this policy and under the default one.
const AssignmentPolicy& CheapestAssignmentsOnIdleAxes(IdleAxes idle_axes);

// Runs every op on replicated arrays.
const AssignmentPolicy& ReplicateEverything();

}  // namespace toroid
