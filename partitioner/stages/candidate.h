// A candidate: one way to partition a program, written as a module so that it can be compared with others.
#ifndef TOROID_PARTITIONER_STAGES_CANDIDATE_H_
#define TOROID_PARTITIONER_STAGES_CANDIDATE_H_

#include <vector>

#include "partitioner/assign/assignment_policy.h"
#include "partitioner/plan/op_decision.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// A partitioned program, and the plan, policy and decisions that it was written by.
struct Candidate {
  Partitioned partitioned;
  ShardingPlan plan;
  const AssignmentPolicy* policy = nullptr;
  DecidedOps decisions;  // The decisions for all its ops.
  DecidedOps decided;    // The decisions that a search made.
};

// The tensors that the caller of the program sees: parameters and outputs.
std::vector<int> BoundaryTensors(const Module& module, const FlowGraph& graph);
// By tensor: whether it is one of BoundaryTensors.
std::vector<bool> AtBoundary(const PreparedProgram& program);

// Parameters and outputs keep the shardings of `plan` from now on. Otherwise a search would save bytes by leaving
// outputs in shardings that the caller has to reshard.
void FixBoundary(const ShardingPlan& plan, PreparedProgram* program);

// True if the caller of the partitioner observes or verifies the program between phases.
bool IsLookedAt(const PartitionOptions& options);
const AssignmentPolicy& PolicyOf(const PartitionOptions& options);

// Propagates shardings, then does what RewriteUnder does.
absl::StatusOr<Candidate> Rewrite(const PreparedProgram& program, const PartitionOptions& options);

// Rewrites the program under a plan and runs the passes over the result. The ops in `decided`, if that is not
// null, are computed as it says, all others by the policy.
absl::StatusOr<Candidate> RewriteUnder(const PreparedProgram& program, const PartitionOptions& options,
                                       ShardingPlan plan, const AssignmentPolicy& policy,
                                       const DecidedOps* decided = nullptr);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_CANDIDATE_H_
