#include "partitioner/search/present_program.h"

#include <algorithm>
#include <limits>
#include <set>

namespace toroid {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

PresentProgram::PresentProgram(const Plan& plan, PlanMemo* memo)
    : memo_(*memo), steps_(plan, memo), costs_(steps_, memo) {}

bool PresentProgram::Compute(int i, SetOf set_of, StepCosts::Taken* taken) {
  const ProgramStep& step = steps_.step(i);
  return step.choice == nullptr ? costs_.Deliver(i, set_of, taken)
                                : costs_.Compute(i, *step.choice, step.passed_on, set_of, taken);
}

bool PresentProgram::Follow() {
  before_.assign(steps_.size(), {});
  after_.assign(steps_.size(), {});
  cost_.assign(steps_.size(), 0);
  total_ = 0;
  std::vector<int> now(steps_.num_tensors());
  for (int t = 0; t < steps_.num_tensors(); ++t) now[t] = steps_.initial(t);
  for (int i = 0; i < steps_.size(); ++i) {
    StepCosts::Taken taken;
    if (!Compute(
            i, [&](int t) { return now[t]; }, &taken))
      return false;
    cost_[i] = taken.cost;
    total_ += taken.cost;
    for (const auto& [t, set] : taken.after) {
      before_[i].push_back({t, now[t]});
      now[t] = set;
    }
    after_[i] = std::move(taken.after);
  }
  return true;
}

int PresentProgram::NextUse(int tensor, int i) const {
  const std::vector<int>& users = steps_.users(tensor);
  const auto next = std::upper_bound(users.begin(), users.end(), i);
  return next == users.end() ? -1 : *next;
}

bool PresentProgram::Replace(const Decisions& decisions) {
  Decisions present;
  for (const auto& [step, decision] : decisions) present.emplace_back(step, steps_.step(step));
  if (Update(decisions)) return true;
  TOROID_CHECK(Update(present));
  return false;
}

bool PresentProgram::Update(const Decisions& decisions) {
  std::set<int> agenda;
  for (const auto& [step, decision] : decisions) {
    steps_.SetDecision(step, decision);
    agenda.insert(step);
  }
  absl::flat_hash_map<int, int> changed;  // By tensor whose set differs from that before: its set.
  bool is_possible = true;
  while (!agenda.empty() && is_possible) {
    const int i = *agenda.begin();
    agenda.erase(agenda.begin());
    for (auto& [t, set] : before_[i]) {
      const auto other = changed.find(t);
      if (other != changed.end()) set = other->second;
    }
    StepCosts::Taken taken;
    is_possible = Compute(
        i, [&](int t) { return SetBefore(i, t); }, &taken);
    if (!is_possible) break;
    total_ += taken.cost - cost_[i];
    cost_[i] = taken.cost;
    for (const auto& [t, set] : taken.after) {
      if (SetIn(after_[i], t, set) == set) {
        changed.erase(t);
        continue;
      }
      changed[t] = set;
      const int next = NextUse(t, i);
      if (next >= 0) agenda.insert(next);
    }
    after_[i] = std::move(taken.after);
  }
  return is_possible;
}

void LaterUses::Clear() {
  cheapest_.clear();
  uses_.clear();
}

double LaterUses::CheapestUse(int user, int t, int set, bool is_decided_anew) {
  const std::tuple<int, int, int, bool> key = {user, t, set, is_decided_anew};
  if (const auto known = cheapest_.find(key); known != cheapest_.end()) return known->second;
  return cheapest_[key] = Compute(user, t, set, is_decided_anew);
}

double LaterUses::Compute(int user, int t, int set, bool is_decided_anew) {
  double best = kNever;
  const auto consider = [&](const PartialOperands& passed_on) {
    for (const auto& [rest, wanted] : UsesOf(user, t, passed_on, is_decided_anew)) {
      if (rest >= best) break;
      const double fetch = program_.versions().EstimateFetch(t, set, wanted);
      best = std::min(best, program_.steps().step(user).times * fetch + rest);
    }
  };
  if (program_.steps().step(user).choice == nullptr) {
    consider({});
  } else {
    const auto set_of = [&](int other) { return other == t ? set : program_.SetBefore(user, other); };
    for (const PartialOperands& passed_on : program_.costs().Passings(user, set_of)) consider(passed_on);
  }
  return best == kNever ? 0 : best;
}

const LaterUses::Uses& LaterUses::UsesOf(int user, int t, const PartialOperands& passed_on,
                                         bool is_decided_anew) {
  std::unique_ptr<Uses>& known = uses_[{user, t, passed_on.operands, passed_on.axes, is_decided_anew}];
  if (known != nullptr) return *known;
  auto uses = std::make_unique<Uses>();
  const ProgramStep& step = program_.steps().step(user);
  if (step.choice == nullptr) {
    for (const Delivery& delivery : step.deliveries) {
      if (delivery.from == t && delivery.wanted >= 0) uses->push_back({0, delivery.wanted});
    }
  } else {
    AddUse(user, t, *step.choice, passed_on, uses.get());
    if (is_decided_anew) {
      for (const OpChoice* choice : program_.memo().Choices(*step.op, units_)) {
        AddUse(user, t, *choice, passed_on, uses.get());
      }
    }
  }
  std::sort(uses->begin(), uses->end());
  return *(known = std::move(uses));
}

void LaterUses::AddUse(int user, int t, const OpChoice& choice, const PartialOperands& passed_on,
                       Uses* uses) {
  const ProgramStep& step = program_.steps().step(user);
  size_t operand = 0;
  while (step.op->operands[operand] != t) ++operand;
  const int wanted = program_.costs().Wanted(choice, operand, passed_on);
  const int there = program_.versions().SetOf(wanted);
  const auto set_of = [&](int other) { return other == t ? there : program_.SetBefore(user, other); };
  StepCosts::Taken taken;
  if (!program_.costs().Compute(user, choice, passed_on, set_of, &taken)) return;
  for (const int result : step.op->results) {
    taken.cost += step.times * BackToPresent(user, result, SetIn(taken.after, result, -1));
  }
  const auto known =
      std::find_if(uses->begin(), uses->end(), [&](const auto& use) { return use.second == wanted; });
  if (known == uses->end()) {
    uses->push_back({taken.cost, wanted});
  } else {
    known->first = std::min(known->first, taken.cost);
  }
}

// The estimated cost of resharding a result of a step from the versions `set` to its version in the present program.
double LaterUses::BackToPresent(int step, int result, int set) {
  if (program_.steps().last_use(result) <= step || set < 0) return 0;
  VersionSets& versions = program_.versions();
  const int after = SetIn(program_.after(step), result, set);
  const int usual =
      versions.set(after == VersionSets::kAnywhere ? program_.steps().initial(result) : after)[0];
  const double time = versions.EstimateFetch(result, set, usual);
  if (time < kNever) return time;
  Sharding complete = versions.sharding(usual);
  complete.partial = 0;
  complete.reducer = Reducer::kAdd;
  return versions.EstimateFetch(result, set, versions.Number(complete));
}

}  // namespace toroid
