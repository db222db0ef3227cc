// From a prepared program and a plan of shardings to the program of one partition.
//
// Instructions are taken in order. How each is computed is decided (op_decision.h) from where its operands lie by then
// and where the plan wants its results; the operands are resharded (sharded_values.h), its local program is written
// (op_rewriter.h), and the results stay where they were computed until a consumer needs them elsewhere. Bodies,
// conditions and branches are rewritten where they are entered (control_flow_rewriter.h).
#ifndef TOROID_PARTITIONER_REWRITE_PROGRAM_REWRITER_H_
#define TOROID_PARTITIONER_REWRITE_PROGRAM_REWRITER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "partitioner/assign/assignment_policy.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/provenance/replication_log.h"
#include "partitioner/rewrite/op_decision.h"
#include "partitioner/spmd/local_value_hook.h"

namespace toroid {

struct RewriteOptions {
  const AssignmentPolicy* policy = &CheapestAssignments();
  const DecidedOps* decided = nullptr;  // What these say comes before the policy. Null: nothing.
  LocalValueHook on_local_value;
};

struct RewrittenProgram {
  // The program of one partition, with the causes of its collectives; dead instructions are still there, and how the
  // caller's arrays are cut is not told.
  std::unique_ptr<Module> module;
  std::vector<FullReplication> full_replications;
  std::vector<Sharding>
      outputs;  // How results lie, by output of the graph: the plan's, or as they were made (entry_rewriter.h).
  DecidedOps decisions;      // How ops were computed.
  std::string made_up_axes;  // Of a module that names none: those of the causes.
};

// Errors: kInvalidArgument and kUnimplemented "computation/instruction: ..." for what has no partitioned form.
absl::StatusOr<RewrittenProgram> RewriteProgram(const PreparedProgram& program, const ShardingPlan& plan,
                                                const RewriteOptions& options = {});

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_PROGRAM_REWRITER_H_
