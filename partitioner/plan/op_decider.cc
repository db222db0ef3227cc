#include "partitioner/plan/op_decider.h"

#include <algorithm>
#include <utility>

namespace toroid {

OpDecider::OpDecider(const Plan& plan, const AssignmentPolicy& policy, const ValuePlaces& values,
                     PlanMemo* memo)
    : memo_(*memo),
      program_(memo->program()),
      graph_(*program_.graph),
      mesh_(program_.annotations.mesh),
      plan_(plan),
      policy_(policy),
      values_(values),
      must_reduce_(MustReduce(graph_, plan.shardings, mesh_)) {}

PartialOperands OpDecider::OperandsToPassOn(const Instruction& instruction, const FlowOp& op) const {
  const PartialOperands none;
  if (op.results.size() != 1) return none;
  PartialOperands present;
  for (size_t i = 0; i < op.operands.size() && i < 32; ++i) {
    const int t = op.operands[i];
    if (!graph_.shape(t).IsArray() || !values_.IsPartial(t)) continue;
    const Sharding sharding = *values_.PlacesOf(t)[0];
    if (present.none()) present.partial = sharding;
    if (present.partial.partial != sharding.partial || present.partial.reducer != sharding.reducer)
      return none;
    if (must_reduce_[t]) return none;
    present.operands |= uint32_t{1} << i;
  }
  return MayPassOn(instruction, op, present) ? present : none;
}

const Assignment& OpDecider::Assign(const FlowOp& op, const PartialOperands& passed_on) const {
  DecisionKey key;
  key.policy = &policy_;
  key.op_class = memo_.ClassOf(op);
  for (const int t : op.operands) key.tensors.push_back(values_.IsFree(t) ? -1 : values_.set(t));
  for (const int t : op.results) key.tensors.push_back(values_.steps().initial(t));
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
  AssignmentProblem problem = ProblemOf(graph_, op, [&](int t, bool is_result, TensorView* view) {
    if (is_result) {
      view->places.push_back(plan_.shardings[t]);
      return;
    }
    const bool stays_partial = passed_on.Has(operand++);
    view->free = values_.IsFree(t);
    for (const Sharding* known : values_.PlacesOf(t)) {
      Sharding place = *known;
      if (stays_partial) {
        place.partial = 0;
        place.reducer = Reducer::kAdd;
      }
      view->places.push_back(std::move(place));
    }
  });
  problem.reserved = program_.annotations.ManualAxesOf(op) | passed_on.axes();
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
  decision.passed_on = OperandsToPassOn(instruction, op);
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
  const CostModel& cost = program_.planner->cost();
  const int64_t bytes = LocalBytes(program_, op.results[0], plan_.shardings[op.results[0]]);
  const double later =
      cost.CollectiveTime(CollectiveKind::kAllReduce, bytes, mesh_, mesh_.InOrder(partial.partial));
  // Axes over which partial sums are passed on cannot cut the op, so the devices along them repeat its flops.
  const auto work = [&](double flops) { return cost.ContractionTime(flops).value_or(flops * kBytesPerFlop); };
  return reduced.time + work(reduced.flops) <
         passing.assignment.time + later + work(passing.assignment.flops);
}

}  // namespace toroid
