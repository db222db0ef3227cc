#include "partitioner/search/present_program.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "partitioner/search/frontier_states.h"

namespace toroid {

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

bool PresentProgram::Replace(const std::vector<Decision>& decisions) {
  std::vector<Decision> present;
  for (const Decision& decision : decisions) present.push_back(DecisionOf(decision.step));
  if (Update(decisions)) return true;
  TOROID_CHECK(Update(present));
  return false;
}

bool PresentProgram::Update(const std::vector<Decision>& decisions) {
  std::set<int> agenda;
  for (const Decision& decision : decisions) {
    steps_.SetChoice(decision.step, *decision.choice, decision.passed_on);
    agenda.insert(decision.step);
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
        i, [&](int t) { return SetIn(before_[i], t, steps_.initial(t)); }, &taken);
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

}  // namespace toroid
