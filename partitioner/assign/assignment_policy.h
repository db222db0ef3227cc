// Who chooses how ops are computed.
//
// A policy is given to the partitioner (PartitionOptions::policy). The usual one takes what costs least (assignment.h);
// that every op runs on replicated arrays is another one, the slowest correct partitioning and a reference for tests.
// To try a policy: derive, choose, give it to PartitionModule. Whatever it chooses is computed right, as long as it
// cuts factors where the op's local program can (CanCutLocally) and leaves reserved axes alone.
#ifndef TOROID_PARTITIONER_ASSIGN_ASSIGNMENT_POLICY_H_
#define TOROID_PARTITIONER_ASSIGN_ASSIGNMENT_POLICY_H_

#include <vector>

#include "partitioner/assign/assignment.h"

namespace toroid {

class AssignmentPolicy {
 public:
  virtual ~AssignmentPolicy() = default;

  // Changes the shardings that propagation found, by tensor. Those of the program's parameters and outputs, marked in
  // `at_boundary`, are what its caller relies on.
  virtual void AdjustPlan(const std::vector<bool>& at_boundary, std::vector<Sharding>* plan) const;

  virtual Assignment Choose(const AssignmentProblem& problem, ReshardPlanner* planner,
                            const Mesh& mesh) const = 0;
};

// ChooseAssignment; plans stay as they are.
const AssignmentPolicy& CheapestAssignments();

// The same, with contractions cut over idle axes (IdleAxes). Less work of one op may make others send more, so that it is
// compared with the usual policy by what whole programs do.
const AssignmentPolicy& CheapestAssignmentsOnIdleAxes(IdleAxes idle_axes);

// Every op on replicated arrays.
const AssignmentPolicy& ReplicateEverything();

}  // namespace toroid

#endif  // TOROID_PARTITIONER_ASSIGN_ASSIGNMENT_POLICY_H_
