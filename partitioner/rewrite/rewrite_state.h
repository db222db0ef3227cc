// The state that the rewriters of one program share: their inputs and their output.
#ifndef TOROID_PARTITIONER_REWRITE_REWRITE_STATE_H_
#define TOROID_PARTITIONER_REWRITE_REWRITE_STATE_H_

#include <functional>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "partitioner/assign/assignment_policy.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/provenance/program_names.h"
#include "partitioner/provenance/replication_log.h"
#include "partitioner/rewrite/computation_copies.h"
#include "partitioner/rewrite/op_decider.h"
#include "partitioner/rewrite/partial_sums.h"
#include "partitioner/rewrite/sharded_values.h"
#include "partitioner/spmd/local_value_hook.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

struct RewriteState {
  RewriteState(const PreparedProgram& program, const ShardingPlan& plan, const AssignmentPolicy& policy,
               const DecidedOps* decided, LocalValueHook hook, Module* out);
  RewriteState(const RewriteState&) = delete;  // Its parts refer to each other.

  // The prepared global program, and the shardings planned for its tensors.
  const PreparedProgram& program;
  const Module& module;
  const FlowGraph& graph;
  const Annotations& annotations;
  const Mesh& mesh;
  const ShardingPlan& plan;
  const ProgramNames names;

  // Slices that are not computed, since all their users read the sliced array instead
  // (../ops/read_through.h).
  const absl::flat_hash_set<const Instruction*> read_through;

  // The program of one partition.
  Module* out;
  SpmdModule spmd;
  ComputationCopies copies;

  // The shardings that values have, and how ops are computed.
  ReplicationLog replications;
  ShardedValues values;
  PartialSums partial_sums;
  OpDecider decider;
  DecidedOps decisions;  // The decisions made so far.

  std::function<Computation*(const Computation*)> copy_computation() {
    return [this](const Computation* computation) { return copies.CopyOf(computation); };
  }
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_REWRITE_STATE_H_
