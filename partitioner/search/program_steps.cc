#include "partitioner/search/program_steps.h"

#include <algorithm>
#include <utility>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/trip_count.h"
#include "partitioner/propagation/crossing_values.h"
#include "partitioner/propagation/free_values.h"

namespace toroid {
ProgramSteps::ProgramSteps(const PreparedProgram& program, const ShardingPlan& plan,
                           const DecidedOps& current, AxisUnits units, VersionSets* versions)
    : program_(program),
      graph_(*program.graph),
      annotations_(program.annotations),
      plan_(plan),
      current_(current),
      versions_(*versions),
      units_(std::move(units)) {
  const int n = graph_.num_tensors();
  last_use_.assign(n, -1);
  producer_.assign(n, -1);
  users_.resize(n);
  free_.assign(n, false);
  may_be_free_.assign(n, false);
  for (int t = 0; t < n; ++t) initial_.push_back(versions_.SetOf(Number(t, plan_[t])));
  const std::vector<Executions> executions = CountExecutions(*program.flat);
  std::vector<double> times_of(n, 1);
  for (const FlowOp& op : graph_.ops()) {
    ProgramStep step;
    step.op = &op;
    if (op.instruction != nullptr) {
      step.times = static_cast<double>(executions[op.instruction->computation()->index()].times);
      for (const int t : op.results) times_of[t] = step.times;
    } else {
      step.times = times_of[op.operands[0]];
    }
    Fill(op, &step);
    const int i = size();
    const auto note_use = [&](int t) {
      last_use_[t] = i;
      if (users_[t].empty() || users_[t].back() != i) users_[t].push_back(i);
    };
    for (const int t : op.operands) note_use(t);
    for (const Delivery& delivery : step.deliveries) note_use(delivery.from);
    for (const int t : op.results) producer_[t] = i;
    steps_.push_back(std::move(step));
  }
}

int ProgramSteps::Number(int t, Sharding sharding) {
  sharding.manual = annotations_.manual[t];
  return versions_.Number(sharding);
}

void ProgramSteps::Fill(const FlowOp& op, ProgramStep* step) {
  if (op.instruction == nullptr) {
    if (!free_[op.operands[0]]) {
      const int planned = Number(op.results[0], plan_[op.results[0]]);
      step->deliveries.push_back({op.operands[0], planned, op.results[0], planned});
    }
    return;
  }
  const auto boundary = annotations_.boundaries.find(op.instruction);
  if (boundary != annotations_.boundaries.end()) return AddCrossings(*op.instruction, boundary->second, step);
  if (IsShardingAnnotation(*op.instruction)) return AddAnnotation(op, step);
  if (IsMadeAnywhere(
          graph_, op, [&](int t) { return free_[t]; }, [](int) { return false; })) {
    free_[op.results[0]] = true;
    return;
  }
  const auto may_be_free = [&](int t) { return free_[t] || may_be_free_[t]; };
  step->may_be_free = IsMadeAnywhere(graph_, op, may_be_free, [](int) { return true; });
  const auto decided = current_.find(&op);
  if (step->may_be_free) {
    may_be_free_[op.results[0]] = true;
    if (decided == current_.end()) {
      const std::vector<AxisList> whole(op.rule->factors.size());
      step->choices.push_back(Numbered(ChoiceUnder(program_, op, whole)));
      return;
    }
  }
  if (decided == current_.end()) return;
  step->choices.push_back(Numbered(ChoiceUnder(program_, op, decided->second.assignment.factor_axes)));
  step->passed_on = decided->second.passed_on;
}

NumberedChoice ProgramSteps::Numbered(OpChoice choice) {
  NumberedChoice numbered;
  for (const Sharding& sharding : choice.operands) numbered.operands.push_back(versions_.Number(sharding));
  for (const Sharding& sharding : choice.results) numbered.results.push_back(versions_.Number(sharding));
  numbered.choice = std::move(choice);
  return numbered;
}

double ProgramSteps::CountChoices(int i) const {
  return steps_[i].choices.empty() ? 1 : toroid::CountChoices(program_, *steps_[i].op, units_);
}

void ProgramSteps::AddChoices(int i) {
  ProgramStep& step = steps_[i];
  if (step.choices.empty()) return;
  for (OpChoice& choice : ChoicesOf(program_, *step.op, units_)) {
    if (choice.factor_axes != step.choices[0].choice.factor_axes)
      step.choices.push_back(Numbered(std::move(choice)));
  }
}

void ProgramSteps::Decide(int i, int choice, const PartialOperands& passed_on) {
  ProgramStep& step = steps_[i];
  std::swap(step.choices[0], step.choices[choice]);
  step.passed_on = passed_on;
}

DecidedOps ProgramSteps::Decisions() const {
  DecidedOps decided;
  for (const ProgramStep& step : steps_) {
    if (step.choices.empty()) continue;
    OpDecision decision;
    decision.assignment.factor_axes = step.choices[0].choice.factor_axes;
    decision.assignment.flops = step.choices[0].choice.flops;
    decision.passed_on = step.passed_on;
    decided.emplace(step.op, std::move(decision));
  }
  return decided;
}

void ProgramSteps::AddAnnotation(const FlowOp& op, ProgramStep* step) {
  for (size_t i = 0; i < op.results.size(); ++i) {
    const int from = op.operands[i], to = op.results[i];
    free_[to] = free_[from];
    if (free_[to]) continue;
    const std::optional<Annotation>& annotation = annotations_.tensor[to];
    const int wanted = annotation && annotation->closed != 0 ? Number(to, plan_[to]) : -1;
    step->deliveries.push_back({from, wanted, to, wanted});
  }
}

void ProgramSteps::AddCrossings(const Instruction& instruction, const ManualBoundary& boundary,
                                ProgramStep* step) {
  for (const CrossingValue& crossing : CrossingValues(graph_, instruction, boundary)) {
    if (!graph_.shape(crossing.local).IsArray()) continue;
    const auto [local, global] = crossing.SidesOf(graph_, annotations_.mesh, plan_[crossing.local],
                                                  annotations_.manual[crossing.global]);
    const int inside = Number(crossing.local, local), outside = Number(crossing.global, global);
    if (boundary.enters) {
      if (!free_[crossing.global])
        step->deliveries.push_back({crossing.global, outside, crossing.local, inside});
    } else {
      if (!free_[crossing.local])
        step->deliveries.push_back({crossing.local, inside, crossing.global, outside});
    }
  }
}

}  // namespace toroid
