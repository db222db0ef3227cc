// Writes the program of one partition, from a prepared program and a plan of shardings.
//
// Instructions are rewritten in order. For each, OpDecider (op_decider.h) decides how it is computed, from
// the shardings that its operands have by then and that the plan has for its results. Its operands are
// resharded (sharded_values.h) and its local program is written (op_rewriter.h). The results keep the
// shardings they were computed in until a consumer needs others. Bodies, conditions and branches are
// rewritten with their callers (control_flow_rewriter.h).
#ifndef TOROID_PARTITIONER_REWRITE_PROGRAM_REWRITER_H_
#define TOROID_PARTITIONER_REWRITE_PROGRAM_REWRITER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "partitioner/assign/assignment_policy.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/provenance/cut_note.h"
#include "partitioner/provenance/replication_log.h"
#include "partitioner/rewrite/op_decider.h"
#include "partitioner/spmd/local_value_hook.h"

namespace toroid {

struct RewriteOptions {
  const AssignmentPolicy* policy = &CheapestAssignments();
  const DecidedOps* decided = nullptr;  // Decisions that override the policy; may be null.
  LocalValueHook on_local_value;
};

struct RewrittenProgram {
  // The program of one partition, with the causes of its collectives. It still has dead instructions, and
  // does not state the shardings of its parameters and results.
  std::unique_ptr<Module> module;
  std::vector<FullReplication> full_replications;
  std::vector<CutNote> cuts;  // Uneven cuts, and cuts asked for that were not made.
  // By output of the graph: the sharding of the plan, or the one it was computed in (entry_rewriter.h).
  std::vector<Sharding> outputs;
  DecidedOps decisions;      // The decisions that were made.
  std::string made_up_axes;  // Mesh axes that causes name if the module names none: "a4, b2".
};

// Errors: kInvalidArgument and kUnimplemented, "computation/instruction: ...", for an instruction that has no
// partitioned form; kInternal if an instruction that was written is invalid.
absl::StatusOr<RewrittenProgram> RewriteProgram(const PreparedProgram& program, const ShardingPlan& plan,
                                                const RewriteOptions& options = {});

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_PROGRAM_REWRITER_H_
