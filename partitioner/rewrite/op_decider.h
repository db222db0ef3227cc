// Decides how a device computes an op: which axes cut its factors, and which operands it takes as partial
// sums.
#ifndef TOROID_PARTITIONER_REWRITE_OP_DECIDER_H_
#define TOROID_PARTITIONER_REWRITE_OP_DECIDER_H_

#include "partitioner/assign/assignment_policy.h"
#include "partitioner/plan/op_decision.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/rewrite/partial_sums.h"
#include "partitioner/rewrite/sharded_values.h"

namespace toroid {

class OpDecider {
 public:
  // All arguments must outlive the decider. `decided` may be null.
  OpDecider(const PreparedProgram& program, const ShardingPlan& plan, const AssignmentPolicy& policy,
            const DecidedOps* decided, const ShardedValues* values, const PartialSums* partial_sums);

  // Returns the entry of `decided`, if there is one and the partial operands it passes on exist. Otherwise
  // decides from the shardings that the operands have now and those that the plan has for the results.
  // Partial operands are passed on unless reducing them first costs less, for example because the result is
  // wanted cut over the axes of the sum.
  OpDecision Decide(const Instruction& instruction, const FlowOp& op) const;

  // The shardings in which an op needs an operand and computes a result, under a decision.
  Sharding OperandSharding(const FlowOp& op, size_t operand, const OpDecision& decision) const;
  Sharding ResultSharding(const Instruction& instruction, const FlowOp& op, size_t result,
                          const OpDecision& decision) const;

 private:
  Assignment Assign(const FlowOp& op, const PartialOperands& passed_on) const;
  // True if each operand of `passed_on` has a version that is partial over its axes, with its reducer.
  bool ArePartial(const FlowOp& op, const PartialOperands& passed_on) const;
  // True if reducing the partial operands and then computing the op by `reduced` costs less than `passing`.
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

#endif  // TOROID_PARTITIONER_REWRITE_OP_DECIDER_H_
