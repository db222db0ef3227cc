// Decides how a device computes an op: which axes cut its factors, and which operands it takes as partial
// sums, that is, before they are reduced.
//
// A product or a slice of a partial sum is a partial sum of products or slices. Reducing it afterwards may be
// cheaper, and one reduction then serves several terms. Every sharding rule says in which operands its op is
// linear (sharding_rule.h). MustReduce decides beforehand, for the whole program, which tensors no op takes
// partial (reduction_points.cc).
//
// Example: p = dot(a, b) and q = dot(c, d) are partial over 4 devices. p + q takes both partial, and is
// reduced once. tanh(p) is not linear: it takes p reduced.
// BUILD: srcs += "reduction_points.cc"
#pragma once

#include <vector>

#include "partitioner/plan/program_steps.h"

namespace toroid {

// By tensor: true if it is to be reduced before any user takes it. `targets`: the propagated shardings, by
// tensor.
std::vector<bool> MustReduce(const FlowGraph& graph, const ShardingPlan& targets, const Mesh& mesh);

class OpDecider {
 public:
  // All arguments must outlive the decider.
  OpDecider(const Plan& plan, const AssignmentPolicy& policy, const ValuePlaces& values, PlanMemo* memo);

  // The operands that `op` takes partial: all that are partial; none if the op may not take all of them, if
  // their axes or reducers differ, or if MustReduce holds for one of them.
  PartialOperands OperandsToPassOn(const Instruction& instruction, const FlowOp& op) const;

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
  bool ReducesFirst(const FlowOp& op, const PartialOperands& passed_on, const Assignment& passing,
                    const Assignment& reduced) const;

  PlanMemo& memo_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const Mesh& mesh_;
  const Plan& plan_;
  const AssignmentPolicy& policy_;
  const ValuePlaces& values_;
  const std::vector<bool> must_reduce_;  // By tensor: MustReduce.
};

}  // namespace toroid
