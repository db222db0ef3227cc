#include "partitioner/plan/step_costs.h"

#include "absl/algorithm/container.h"

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

bool StepCosts::Compute(int i, const OpChoice& choice, const PartialOperands& passed_on, SetOf set_of,
                        Taken* taken) {
  ++count_;
  const ProgramStep& step = steps_.step(i);
  const FlowOp& op = *step.op;
  const AxisSet passed = passed_on.axes();
  if (passed != 0) {
    if ((passed & choice.used) != 0) return false;
    const AxisSet own = PartialAxes(*op.rule, choice.factor_axes);
    if (own != 0 && op.rule->reducer != passed_on.partial.reducer) return false;
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
        PartialOperands passed_on;
        passed_on.partial.partial = partial.partial;
        passed_on.partial.reducer = partial.reducer;
        for (size_t other = 0; other < op.operands.size() && other < 32; ++other) {
          const int t = op.operands[other];
          if ((linearity.together >> other & 1) && !steps_.is_free(t) && HasPartial(set_of(t), partial)) {
            passed_on.operands |= uint32_t{1} << other;
          }
        }
        const auto same = [&](const PartialOperands& known) {
          return known.operands == passed_on.operands && known.axes() == passed_on.axes();
        };
        if (absl::c_any_of(passings, same)) continue;
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
  sharding.partial |= passed_on.partial.partial;
  sharding.reducer = passed_on.partial.reducer;
  return versions_.Number(sharding);
}

}  // namespace toroid
