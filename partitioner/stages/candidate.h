// One way to partition a program, written out to be compared with others.
#ifndef TOROID_PARTITIONER_STAGES_CANDIDATE_H_
#define TOROID_PARTITIONER_STAGES_CANDIDATE_H_

#include <vector>

#include "partitioner/assign/assignment_policy.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/rewrite/op_decision.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// A partitioned program and what it was made by.
struct Candidate {
  Partitioned partitioned;
  ShardingPlan plan;
  const AssignmentPolicy* policy = nullptr;
  DecidedOps decisions;  // How its ops were computed,
  DecidedOps decided;    // and what of that a search has found.
};

// Tensors that the caller sees: parameters and outputs.
std::vector<int> BoundaryTensors(const Module& module, const FlowGraph& graph);
// The same, by tensor.
std::vector<bool> AtBoundary(const PreparedProgram& program);

bool IsLookedAt(const PartitionOptions& options);
const AssignmentPolicy& PolicyOf(const PartitionOptions& options);

// Propagation and the phases behind it.
absl::StatusOr<Candidate> Rewrite(const PreparedProgram& program, const PartitionOptions& options);

// The phases behind propagation: ops are computed as `decided` says, if that is not null, others by the policy.
absl::StatusOr<Candidate> RewriteUnder(const PreparedProgram& program, const PartitionOptions& options,
                                       ShardingPlan plan, const AssignmentPolicy& policy,
                                       const DecidedOps* decided = nullptr);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_CANDIDATE_H_
