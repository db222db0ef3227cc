#include "partitioner/plan/op_decider.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/base/status.h"
#include "partitioner/ops/sharding_rule.h"
#include "partitioner/propagation/flow_problem.h"

namespace toroid {

OpDecider::OpDecider(const Plan& plan, const AssignmentPolicy& policy, const ProgramSteps& steps,
                     const ValuePlaces& values, const PartialSums& partial_sums, PlanMemo* memo)
    : memo_(*memo),
      program_(memo->program()),
      graph_(*program_.graph),
      mesh_(program_.annotations.mesh),
      plan_(plan),
      policy_(policy),
      steps_(steps),
      values_(values),
      partial_sums_(partial_sums) {}

const Assignment& OpDecider::Assign(const FlowOp& op, const PartialOperands& passed_on) const {
  DecisionKey key;
  key.policy = &policy_;
  key.op_class = memo_.ClassOf(op);
  for (const int t : op.operands) key.tensors.push_back(values_.IsFree(t) ? -1 : values_.set(t));
  for (const int t : op.results) key.tensors.push_back(steps_.initial(t));
  key.tensors.push_back(passed_on.operands);
  if (!passed_on.none()) {
    key.tensors.push_back(static_cast<int64_t>(passed_on.axes()));
    key.tensors.push_back(static_cast<int64_t>(passed_on.partial.reducer));
  }
  return memo_.Decision(std::move(key),
                        [&] { return policy_.Choose(ProblemUnder(op, passed_on), program_.pricing()); });
}

AssignmentProblem OpDecider::ProblemUnder(const FlowOp& op, const PartialOperands& passed_on) const {
  size_t operand = 0;
  AssignmentProblem problem = ProblemOf(graph_, op, [&](int t, bool is_result) {
    TensorState state;
    state.reserved = program_.annotations.manual[t];
    if (is_result) {
      state.places.push_back(plan_.shardings[t]);
      return state;
    }
    const bool stays_partial = passed_on.Has(operand++);
    state.free = values_.IsFree(t);
    for (const Sharding* known : values_.PlacesOf(t)) {
      Sharding place = *known;
      if (stays_partial) {
        place.partial = 0;
        place.reducer = Reducer::kAdd;
      }
      state.places.push_back(std::move(place));
    }
    return state;
  });
  problem.reserved |= passed_on.axes();
  problem.uneven = true;
  return problem;
}

bool OpDecider::ArePartial(const FlowOp& op, const PartialOperands& passed_on) const {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!passed_on.Has(i)) continue;
    const auto is_so = [&](const Sharding* place) {
      return (passed_on.partial.partial & ~place->partial) == 0 &&
             place->reducer == passed_on.partial.reducer;
    };
    const auto places = values_.PlacesOf(op.operands[i]);
    if (!std::any_of(places.begin(), places.end(), is_so)) return false;
  }
  return true;
}

OpDecision OpDecider::Decide(const Instruction& instruction, const FlowOp& op) const {
  if (const OpDecision* decided = plan_.DecisionOf(graph_, op)) {
    if (ArePartial(op, decided->passed_on)) return *decided;
  }
  OpDecision decision;
  decision.passed_on = partial_sums_.OperandsToPassOn(instruction, op);
  decision.assignment = Assign(op, decision.passed_on);
  if (decision.passed_on.none()) return decision;
  const Assignment& reduced = Assign(op, PartialOperands());
  if (ReducesFirst(op, decision, reduced)) {
    decision.passed_on = PartialOperands();
    decision.assignment = reduced;
  }
  return decision;
}

bool OpDecider::ReducesFirst(const FlowOp& op, const OpDecision& passing, const Assignment& reduced) const {
  const Sharding& partial = passing.passed_on.partial;
  // A value has one reducer: an op on a partial maximum cannot leave its result partial as a sum over other
  // axes too.
  if (partial.reducer != op.rule->reducer && PartialAxes(*op.rule, passing.assignment.factor_axes) != 0) {
    return true;
  }
  const int result = op.results[0];
  int64_t bytes = ByteWidth(graph_.shape(result).element_type());
  for (const int64_t size : mesh_.ShardDims(graph_.shape(result).dims(), plan_.shardings[result]))
    bytes *= size;
  const double later = program_.planner->cost().CollectiveTime(CollectiveKind::kAllReduce, bytes, mesh_,
                                                               mesh_.InOrder(partial.partial));
  // Axes over which partial sums are passed on cannot cut the op, so the devices along them repeat its flops.
  const CostModel& cost = program_.planner->cost();
  const std::optional<double> work = cost.ContractionTime(reduced.flops);
  return reduced.time + work.value_or(reduced.flops * kBytesPerFlop) <
         passing.assignment.time + later +
             cost.ContractionTime(passing.assignment.flops)
                 .value_or(passing.assignment.flops * kBytesPerFlop);
}

}  // namespace toroid
