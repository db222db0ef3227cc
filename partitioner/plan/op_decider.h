// Decides how a device computes an op: which axes cut its factors, and which operands it takes as partial
// sums.
#pragma once

#include "partitioner/assign/assignment_policy.h"
#include "partitioner/plan/op_decision.h"
#include "partitioner/plan/partial_sums.h"
#include "partitioner/plan/plan.h"
#include "partitioner/plan/plan_memo.h"
#include "partitioner/plan/program_steps.h"
#include "partitioner/plan/value_places.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

class OpDecider {
 public:
  // All arguments must outlive the decider. `steps`: those of the plan.
  OpDecider(const Plan& plan, const AssignmentPolicy& policy, const ProgramSteps& steps,
            const ValuePlaces& values, const PartialSums& partial_sums, PlanMemo* memo);

  // Returns the decision of the plan, if there is one and the partial operands it passes on exist. Otherwise
  // decides from the shardings that the operands have now and those that the plan has for the results.
  // Partial operands are passed on unless reducing them first costs less, for example because the result is
  // wanted cut over the axes of the sum.
  OpDecision Decide(const Instruction& instruction, const FlowOp& op) const;

 private:
  const Assignment& Assign(const FlowOp& op, const PartialOperands& passed_on) const;
  AssignmentProblem ProblemUnder(const FlowOp& op, const PartialOperands& passed_on) const;
  // True if each operand of `passed_on` has a version that is partial over its axes, with its reducer.
  bool ArePartial(const FlowOp& op, const PartialOperands& passed_on) const;
  // True if reducing the partial operands and then computing the op by `reduced` costs less than `passing`.
  bool ReducesFirst(const FlowOp& op, const OpDecision& passing, const Assignment& reduced) const;

  PlanMemo& memo_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const Mesh& mesh_;
  const Plan& plan_;
  const AssignmentPolicy& policy_;
  const ProgramSteps& steps_;
  const ValuePlaces& values_;
  const PartialSums& partial_sums_;
};

}  // namespace toroid
