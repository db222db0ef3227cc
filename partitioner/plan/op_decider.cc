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
    const Sharding& sharding = *values_.PlacesOf(t)[0];
    if (present.none()) present = {0, sharding.partial, sharding.reducer};
    if (present.axes != sharding.partial || present.reducer != sharding.reducer || must_reduce_[t])
      return none;
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
    key.tensors.push_back(static_cast<int64_t>(passed_on.axes));
    key.tensors.push_back(static_cast<int64_t>(passed_on.reducer));
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
  problem.reserved = program_.annotations.ManualAxesOf(op) | passed_on.axes;
  problem.uneven = true;
  return problem;
}

bool OpDecider::ArePartial(const FlowOp& op, const PartialOperands& passed_on) const {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!passed_on.Has(i)) continue;
    const auto is_so = [&](const Sharding* place) {
      return (passed_on.axes & ~place->partial) == 0 && place->reducer == passed_on.reducer;
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
  const PartialOperands passed_on = OperandsToPassOn(instruction, op);
  const Assignment& reduced = Assign(op, PartialOperands());
  if (passed_on.none()) return {reduced.factor_axes};
  const Assignment& passing = Assign(op, passed_on);
  if (ReducesFirst(op, passed_on, passing, reduced)) return {reduced.factor_axes};
  return {passing.factor_axes, passed_on};
}

bool OpDecider::ReducesFirst(const FlowOp& op, const PartialOperands& passed_on, const Assignment& passing,
                             const Assignment& reduced) const {
  // A value has one reducer: an op on a partial maximum cannot leave its result partial as a sum over other
  // axes too.
  if (passed_on.reducer != op.rule->reducer && PartialAxes(*op.rule, passing.factor_axes) != 0) return true;
  const CostModel& cost = program_.planner->cost();
  const int64_t bytes = LocalBytes(program_, op.results[0], plan_.shardings[op.results[0]]);
  const double later =
      cost.CollectiveTime(CollectiveKind::kAllReduce, bytes, mesh_, mesh_.InOrder(passed_on.axes));
  // Axes over which partial sums are passed on cannot cut the op, so the devices along them repeat its flops.
  const auto work = [&](double flops) { return cost.ContractionTime(flops).value_or(flops * kBytesPerFlop); };
  return reduced.time + work(reduced.flops) < passing.time + later + work(passing.flops);
}

}  // namespace toroid
