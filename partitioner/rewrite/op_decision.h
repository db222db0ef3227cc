// How one op is computed on a device: which axes cut its factors, and which operands it takes as partial sums.
#ifndef TOROID_PARTITIONER_REWRITE_OP_DECISION_H_
#define TOROID_PARTITIONER_REWRITE_OP_DECISION_H_

#include "absl/container/flat_hash_map.h"
#include "partitioner/assign/assignment_policy.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/rewrite/partial_sums.h"
#include "partitioner/rewrite/sharded_values.h"

namespace toroid {

struct OpDecision {
  Assignment assignment;
  PartialOperands passed_on;
};

// How ops are computed, as a search found it; ops that are not among them are decided one by one.
using DecidedOps = absl::flat_hash_map<const FlowOp*, OpDecision>;

class OpDecider {
 public:
  // All of them are to outlive this; `decided` may be null.
  OpDecider(const PreparedProgram& program, const ShardingPlan& plan, const AssignmentPolicy& policy,
            const DecidedOps* decided, const ShardedValues* values, const PartialSums* partial_sums);

  // Given where the operands are now and where the plan wants the results. Partial operands are passed on unless
  // reducing them first costs less: the reduced value may be wanted cut over the very axes it is partial over.
  OpDecision Decide(const Instruction& instruction, const FlowOp& op) const;

  // Where an op so computed needs an operand, and where its result then lies.
  Sharding OperandSharding(const FlowOp& op, size_t operand, const OpDecision& decision) const;
  Sharding ResultSharding(const Instruction& instruction, const FlowOp& op, size_t result,
                          const OpDecision& decision) const;

 private:
  Assignment Assign(const FlowOp& op, const PartialOperands& passed_on) const;
  // True if the partial values that a decision passes on are there.
  bool ArePartial(const FlowOp& op, const PartialOperands& passed_on) const;
  bool ReducesFirst(const FlowOp& op, const OpDecision& passing, const Assignment& reduced) const;

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const Mesh& mesh_;
  const ShardingPlan& plan_;
  const AssignmentPolicy& policy_;
  const DecidedOps* decided_;
  const ShardedValues& values_;
  const PartialSums& partial_sums_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_OP_DECISION_H_
