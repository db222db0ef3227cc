#include "partitioner/plan/program_steps.h"

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/trip_count.h"
#include "partitioner/propagation/manual_regions.h"

namespace toroid {
namespace {

void Put(SetsOfTensors* sets, int tensor, int set) {
  for (auto& [t, s] : *sets) {
    if (t != tensor) continue;
    s = set;
    return;
  }
  sets->push_back({tensor, set});
}

}  // namespace

ProgramSteps::ProgramSteps(const Plan& plan, PlanMemo* memo)
    : memo_(*memo),
      program_(memo->program()),
      graph_(*program_.graph),
      annotations_(program_.annotations),
      plan_(plan),
      versions_(memo->versions()) {
  const int n = graph_.num_tensors();
  last_use_.assign(n, -1);
  producer_.assign(n, -1);
  users_.resize(n);
  free_.assign(n, false);
  may_be_free_.assign(n, false);
  for (int t = 0; t < n; ++t) initial_.push_back(versions_.SetOf(Number(t, plan_.shardings[t])));
  if (annotations_.mesh.num_devices() > 1) {
    for (const auto& [instruction, device] : annotations_.device) NoteOneDevice(*instruction);
  }
  const std::vector<Executions> executions = CountExecutions(*program_.flat);
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
      const int planned = Number(op.results[0], plan_.shardings[op.results[0]]);
      step->deliveries.push_back({op.operands[0], planned, op.results[0], planned});
    }
    return;
  }
  if (IsCallTo(*op.instruction, "xla.sdy.ShardingGroup")) return;
  if (annotations_.device.contains(op.instruction) && annotations_.mesh.num_devices() > 1) {
    for (const int t : op.operands) AddDelivery(t, Sharding::Replicated(graph_.shape(t).rank()), step);
    return;
  }
  const auto fed = annotations_.fed.find(op.instruction);
  if (fed != annotations_.fed.end()) return AddOutfeed(*op.instruction, fed->second, step);
  const auto boundary = annotations_.boundaries.find(op.instruction);
  if (boundary != annotations_.boundaries.end()) return AddCrossings(*op.instruction, boundary->second, step);
  if (IsShardingAnnotation(*op.instruction)) return AddAnnotation(op, step);
  step->hands_on = op.instruction->shape().IsTuple() && !graph_.LeafOps(*op.instruction).empty();
  if (!step->hands_on && IsMadeAnywhere(
                             graph_, op, [&](int t) { return free_[t]; }, [](int) { return false; })) {
    free_[op.results[0]] = true;
    return;
  }
  const auto may_be_free = [&](int t) { return free_[t] || may_be_free_[t]; };
  step->may_be_free = !step->hands_on && IsMadeAnywhere(graph_, op, may_be_free, [](int) { return true; });
  const OpDecision* decided = plan_.DecisionOf(graph_, op);
  step->is_decided = !program_.read_through.contains(op.instruction);
  if (step->may_be_free) {
    may_be_free_[op.results[0]] = true;
    if (decided == nullptr) {
      const std::vector<AxisList> whole(op.rule->factors.size());
      step->choice = &memo_.Choice(op, whole);
      return;
    }
  }
  if (decided == nullptr) return;
  step->choice = &memo_.Choice(op, decided->factor_axes);
  step->passed_on = decided->passed_on;
}

Plan ProgramSteps::Decided() const {
  Plan plan = plan_;
  plan.ops.resize(graph_.ops().size());
  for (const ProgramStep& step : steps_) {
    if (step.choice == nullptr) continue;
    plan.ops[step.op - graph_.ops().data()] = OpDecision{step.choice->factor_axes, step.passed_on};
  }
  return plan;
}

void ProgramSteps::AddAnnotation(const FlowOp& op, ProgramStep* step) {
  for (size_t i = 0; i < op.results.size(); ++i) {
    const int from = op.operands[i], to = op.results[i];
    free_[to] = free_[from];
    if (free_[to]) continue;
    const std::optional<Annotation>& annotation = annotations_.tensor[to];
    const int wanted = annotation && annotation->closed != 0 ? Number(to, plan_.shardings[to]) : -1;
    step->deliveries.push_back({from, wanted, to, wanted});
  }
}

// The results of an op that one device runs are sums to which the other devices add nothing.
void ProgramSteps::NoteOneDevice(const Instruction& instruction) {
  for (const int t : graph_.Leaves(instruction)) {
    if (!graph_.shape(t).IsArray()) continue;
    Sharding made = Sharding::Replicated(graph_.shape(t).rank());
    made.partial = annotations_.mesh.AllAxes() & ~annotations_.manual[t];
    initial_[t] = versions_.SetOf(Number(t, made));
  }
}

void ProgramSteps::AddOutfeed(const Instruction& outfeed, absl::Span<const Sharding> data,
                              ProgramStep* step) {
  const auto tensors = graph_.Leaves(*outfeed.operand(0));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Sharding wanted = i < data.size() ? data[i] : Sharding::Replicated(graph_.shape(tensors[i]).rank());
    if (wanted.partial == 0)
      AddDelivery(tensors[i], wanted, step);  // Rewriting refuses to feed partial sums.
  }
}

void ProgramSteps::AddDelivery(int t, const Sharding& wanted, ProgramStep* step) {
  if (!free_[t] && graph_.shape(t).IsArray()) step->deliveries.push_back({t, Number(t, wanted), t, -1});
}

void ProgramSteps::AddCrossings(const Instruction& instruction, const ManualBoundary& boundary,
                                ProgramStep* step) {
  for (const CrossingValue& crossing : CrossingValues(graph_, instruction, boundary)) {
    if (!graph_.shape(crossing.local).IsArray()) continue;
    const auto [local, global] = crossing.SidesOf(graph_, annotations_.mesh, plan_.shardings[crossing.local],
                                                  annotations_.manual[crossing.global]);
    const int inside = Number(crossing.local, local), outside = Number(crossing.global, global);
    const Delivery delivery = boundary.enters ? Delivery{crossing.global, outside, crossing.local, inside}
                                              : Delivery{crossing.local, inside, crossing.global, outside};
    if (!free_[delivery.from]) step->deliveries.push_back(delivery);
  }
}

bool StepCosts::Compute(int i, const OpChoice& choice, const PartialOperands& passed_on, SetOf set_of,
                        Taken* taken) {
  ++count_;
  const ProgramStep& step = steps_.step(i);
  const FlowOp& op = *step.op;
  const AxisSet passed = passed_on.axes;
  if (passed != 0) {
    if ((passed & choice.used) != 0) return false;
    const AxisSet own = PartialAxes(*op.rule, choice.factor_axes);
    if (own != 0 && op.rule->reducer != passed_on.reducer) return false;
  }
  taken->cost = choice.time;
  taken->sent_bytes = choice.sent_bytes;
  taken->collectives = choice.collectives;
  taken->after.clear();
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const int t = op.operands[k];
    if (steps_.is_free(t) || !graph_.shape(t).IsArray()) continue;
    const int wanted = Wanted(choice, k, passed_on);
    const VersionSets::Fetched fetched = versions_.Fetch(t, SetIn(taken->after, t, set_of), wanted);
    if (fetched.set < 0) return false;
    taken->cost += fetched.moves.time;
    taken->sent_bytes += fetched.moves.sent_bytes;
    taken->collectives += fetched.moves.collectives;
    Put(&taken->after, t, fetched.set);
  }
  taken->sent_bytes *= step.times;
  taken->collectives *= step.times;
  const auto set_after = [&](int t) { return SetIn(taken->after, t, set_of); };
  if (step.may_be_free && IsFree(op, set_after)) {
    taken->cost = step.times * (taken->cost - choice.time);
    Put(&taken->after, op.results[0], VersionSets::kAnywhere);
    return true;
  }
  for (size_t k = 0; k < op.results.size(); ++k) {
    const int made = passed != 0 ? WithPartial(choice.results[k], passed_on) : choice.results[k];
    Put(&taken->after, op.results[k], versions_.SetOf(made));
  }
  taken->cost *= step.times;
  return true;
}

bool StepCosts::Deliver(int i, SetOf set_of, Taken* taken) {
  ++count_;
  const ProgramStep& step = steps_.step(i);
  taken->cost = taken->sent_bytes = taken->collectives = 0;
  taken->after.clear();
  for (const Delivery& delivery : step.deliveries) {
    int set = SetIn(taken->after, delivery.from, set_of);
    if (delivery.wanted >= 0) {
      const VersionSets::Fetched fetched = versions_.Fetch(delivery.from, set, delivery.wanted);
      if (fetched.set < 0) return false;
      taken->cost += step.times * fetched.moves.time;
      taken->sent_bytes += step.times * fetched.moves.sent_bytes;
      taken->collectives += step.times * fetched.moves.collectives;
      set = fetched.set;
    }
    Put(&taken->after, delivery.from, set);
    Put(&taken->after, delivery.to, delivery.made >= 0 ? versions_.SetOf(delivery.made) : set);
  }
  return true;
}

std::vector<PartialOperands> StepCosts::Passings(int i, SetOf set_of) const {
  const FlowOp& op = *steps_.step(i).op;
  std::vector<PartialOperands> passings = {PartialOperands()};
  for (const Linearity& linearity : op.rule->linear) {
    for (size_t k = 0; k < op.operands.size() && k < 32; ++k) {
      if (!(linearity.together >> k & 1) || steps_.is_free(op.operands[k])) continue;
      for (const int number : versions_.set(set_of(op.operands[k]))) {
        const Sharding& partial = versions_.sharding(number);
        if (partial.partial == 0) continue;
        PartialOperands passed_on = {0, partial.partial, partial.reducer};
        for (size_t other = 0; other < op.operands.size() && other < 32; ++other) {
          const int t = op.operands[other];
          if ((linearity.together >> other & 1) && !steps_.is_free(t) && HasPartial(set_of(t), partial)) {
            passed_on.operands |= uint32_t{1} << other;
          }
        }
        if (absl::c_linear_search(passings, passed_on)) continue;
        if (MayPassOn(*op.instruction, op, passed_on)) passings.push_back(passed_on);
      }
    }
  }
  return passings;
}

bool StepCosts::IsFree(const FlowOp& op, SetOf set_of) const {
  const auto is_free = [&](int t) { return steps_.is_free(t) || set_of(t) == VersionSets::kAnywhere; };
  return IsMadeAnywhere(graph_, op, is_free, [&](int t) { return versions_.HasWhole(set_of(t)); });
}

bool StepCosts::HasPartial(int set, const Sharding& partial) const {
  return absl::c_any_of(versions_.set(set), [&](int number) {
    const Sharding& sharding = versions_.sharding(number);
    return (partial.partial & ~sharding.partial) == 0 && sharding.reducer == partial.reducer;
  });
}

int StepCosts::WithPartial(int number, const PartialOperands& passed_on) {
  Sharding sharding = versions_.sharding(number);
  sharding.partial |= passed_on.axes;
  sharding.reducer = passed_on.reducer;
  return versions_.Number(sharding);
}

}  // namespace toroid
