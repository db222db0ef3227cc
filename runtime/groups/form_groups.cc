#include "runtime/groups/form_groups.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "hlo/base/status.h"
#include "runtime/groups/group.h"
#include "runtime/groups/group_builder.h"
#include "runtime/groups/plan_views.h"
#include "runtime/groups/unit_order.h"

namespace toroid {
namespace {

constexpr size_t kMostMembers = 200;

// What a step may be in a group.
struct Candidate {
  enum class Kind : uint8_t { kOther, kElementwise, kRows, kLines };
  Kind kind = Kind::kOther;
  ReduceForm form;
};

bool IsStatic(const Instruction& instruction) {
  bool is_static = !instruction.shape().IsDynamic();
  for (const Instruction* operand : instruction.operands()) is_static &= !operand->shape().IsDynamic();
  return is_static;
}

Candidate CandidateOf(const Step& step) {
  Candidate candidate;
  const Instruction& instruction = *step.instruction;
  if (instruction.opcode() == Opcode::kReduce) {
    candidate.form = ReduceFormOf(instruction);
    if (candidate.form.kind == ReduceForm::Kind::kRows) candidate.kind = Candidate::Kind::kRows;
    if (candidate.form.kind == ReduceForm::Kind::kLines && candidate.form.row_length <= kLongestRow) {
      candidate.kind = Candidate::Kind::kLines;
    }
    return candidate;
  }
  if (instruction.shape().NumElements() == 0 || !IsStatic(instruction)) return candidate;
  const bool by_scalar = instruction.opcode() == Opcode::kSelect &&
                         instruction.operand(0)->shape().rank() == 0 && instruction.shape().rank() != 0;
  if (!by_scalar && ElementOpOf(instruction).kind != ElementOp::Kind::kNone) {
    candidate.kind = Candidate::Kind::kElementwise;
  }
  return candidate;
}

class Former {
 public:
  Former(const SideEffects& side_effects, Plan& plan)
      : side_effects_(side_effects), plan_(plan), views_(plan) {}

  void Run() {
    const int n = static_cast<int>(plan_.steps.size());
    group_of_.assign(n, -1);
    unit_of_.assign(n, -1);
    int last_effect = -1;
    for (int s = 0; s < n; ++s) {
      const Step& step = plan_.steps[s];
      if (!views_.IsView(step.result)) {
        Candidate candidate = CandidateOf(step);
        // A start value is read from memory.
        const bool reduces = candidate.kind != Candidate::Kind::kElementwise;
        if (reduces && step.operands.size() == 2 && views_.RootOf(step.operands[1]).counts) candidate = {};
        if (candidate.kind != Candidate::Kind::kOther) {
          Place(s, candidate);
          continue;
        }
      }
      std::vector<int> producers;
      for (const int slot : step.operands) producers.push_back(UnitOfSlot(slot));
      const bool effect = side_effects_.Has(*step.instruction);
      if (effect) producers.push_back(last_effect);
      unit_of_[s] = order_.Add(producers);
      if (effect) last_effect = unit_of_[s];
    }
    PlaceLoneReductions();
    Rebuild();
  }

 private:
  using Members = GroupMembers;

  // The unit that gives the slot its value; -1 for parameters and constants.
  int UnitOfSlot(int slot) const {
    const int producer = views_.producer(slot);
    return producer < 0 ? -1 : order_.Find(unit_of_[producer]);
  }

  // The group of the step that gives the slot its value; -1 for none.
  int GroupOfSlot(int slot) const {
    const int producer = views_.producer(slot);
    return producer < 0 || group_of_[producer] < 0 ? -1 : GroupAt(group_of_[producer]);
  }
  // The group that this one has become part of.
  int GroupAt(int group) const {
    while (part_of_[group] != group) group = part_of_[group];
    return group;
  }

  // Whether, and how, the step can be a member of the group, as far as shapes go.
  struct Fit {
    bool fits = false;
    bool per_row = false;
    int64_t row_length = 0, segment_rows = 0;  // What the group's will be.
    bool long_rows = false;
  };
  Fit FitOf(const Step& step, const Candidate& candidate, const Members& group) const {
    Fit fit{true, false, group.row_length, group.segment_rows, group.long_rows};
    const auto wants_rows = [&](int64_t length) {
      if (group.row_length == length && !group.long_rows) return true;
      if (group.row_length != 0) return false;
      fit.row_length = length;
      return true;
    };
    switch (candidate.kind) {
      case Candidate::Kind::kElementwise: {
        const int64_t elements = step.instruction->shape().NumElements();
        if (elements == group.elements) return fit;
        fit.per_row = true;
        fit.fits = group.row_length > 0 && !group.long_rows && elements * group.row_length == group.elements;
        return fit;
      }
      case Candidate::Kind::kRows:
        fit.fits = step.instruction->operand(0)->shape().NumElements() == group.elements;
        fit.per_row = true;
        if (candidate.form.row_length > kLongestRow) {
          fit.fits &=
              group.row_length == 0 || (group.long_rows && group.row_length == candidate.form.row_length);
          fit.row_length = candidate.form.row_length;
          fit.long_rows = true;
        } else {
          fit.fits &= wants_rows(candidate.form.row_length);
        }
        return fit;
      case Candidate::Kind::kLines:
        fit.fits = step.instruction->operand(0)->shape().NumElements() == group.elements &&
                   (group.segment_rows == 0 || group.segment_rows == candidate.form.segment_rows) &&
                   wants_rows(candidate.form.row_length);
        fit.segment_rows = candidate.form.segment_rows;
        return fit;
      case Candidate::Kind::kOther:
        break;
    }
    return {};
  }

  static bool IsStartValue(const Candidate& candidate, size_t operand) {
    return operand == 1 &&
           (candidate.kind == Candidate::Kind::kRows || candidate.kind == Candidate::Kind::kLines);
  }

  // Whether the step reads a value of the group in the block, and the units that its other operands come from.
  bool ReadsInside(const Step& step, const Candidate& candidate, int group, const Fit& fit,
                   std::vector<int>* outside) const {
    const bool reads_rows = fit.per_row && candidate.kind == Candidate::Kind::kElementwise;
    bool any = false;
    outside->clear();
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (!IsStartValue(candidate, i) && IsInside(views_, step.operands[i], members_[group], reads_rows)) {
        any = true;
      } else {
        outside->push_back(UnitOfSlot(step.operands[i]));
      }
    }
    return any;
  }

  bool HasRoom(int group, const Step& step) const {
    return members_[group].steps.size() < kMostMembers &&
           members_[group].inputs + step.operands.size() <= kMostGroupValues;
  }

  void Join(int s, const Candidate& candidate, int group, const Fit& fit, size_t inputs) {
    Members& members = members_[group];
    members.inputs += inputs;
    members.row_length = fit.row_length;
    members.segment_rows = fit.segment_rows;
    members.long_rows = fit.long_rows;
    members.steps.push_back(s);
    const bool ends = candidate.kind == Candidate::Kind::kLines ||
                      (candidate.kind == Candidate::Kind::kRows && fit.long_rows);
    members.place[plan_.steps[s].result] = {fit.per_row, ends};
    group_of_[s] = group;
    unit_of_[s] = unit_of_group_[group];
  }

  // The step joins the group, which becomes one with the groups of its other operands where they can. False if it cannot join.
  bool TryJoin(int s, const Candidate& candidate, int group) {
    const Step& step = plan_.steps[s];
    std::vector<int> outside;
    if (!HasRoom(group, step)) return false;
    const Fit fit = FitOf(step, candidate, members_[group]);
    if (!fit.fits || !ReadsInside(step, candidate, group, fit, &outside)) return false;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const int other = GroupOfSlot(views_.RootOf(step.operands[i]).slot);
      if (other < 0 || other == group || IsStartValue(candidate, i)) continue;
      const Fit other_fit = FitOf(step, candidate, members_[other]);
      std::vector<int> ignored;
      if (!other_fit.fits || !ReadsInside(step, candidate, other, other_fit, &ignored)) continue;
      if (!MayMerge(members_[group], members_[other]) ||
          !order_.Merge(unit_of_group_[group], unit_of_group_[other])) {
        continue;
      }
      MoveMembers(members_[other], members_[group]);
      part_of_[other] = group;
    }
    const Fit merged = FitOf(step, candidate, members_[group]);
    ReadsInside(step, candidate, group, merged, &outside);
    if (!order_.MakeUser(unit_of_group_[group], outside)) return false;
    Join(s, candidate, group, merged, outside.size());
    return true;
  }

  // The step's group: that of an operand, else a new one.
  void Place(int s, const Candidate& candidate) {
    const Step& step = plan_.steps[s];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const int group = GroupOfSlot(views_.RootOf(step.operands[i]).slot);
      if (group >= 0 && !IsStartValue(candidate, i) && TryJoin(s, candidate, group)) return;
    }
    std::vector<int> producers;
    for (const int slot : step.operands) producers.push_back(UnitOfSlot(slot));
    const int group = static_cast<int>(members_.size());
    members_.emplace_back();
    part_of_.push_back(group);
    unit_of_group_.push_back(order_.Add(producers));
    const bool reduces = candidate.kind != Candidate::Kind::kElementwise;
    members_[group].elements =
        (reduces ? step.instruction->operand(0) : step.instruction)->shape().NumElements();
    Join(s, candidate, group, FitOf(step, candidate, members_[group]), step.operands.size());
  }

  static bool MayMerge(const Members& a, const Members& b) {
    return a.elements == b.elements && !a.long_rows && !b.long_rows &&
           (a.row_length == b.row_length || a.row_length == 0 || b.row_length == 0) &&
           (a.segment_rows == b.segment_rows || a.segment_rows == 0 || b.segment_rows == 0) &&
           a.steps.size() + b.steps.size() < kMostMembers && a.inputs + b.inputs < kMostGroupValues;
  }

  static void MoveMembers(Members& from, Members& to) {
    to.row_length = std::max(from.row_length, to.row_length);
    to.segment_rows = std::max(from.segment_rows, to.segment_rows);
    to.inputs += from.inputs;
    to.steps.insert(to.steps.end(), from.steps.begin(), from.steps.end());
    to.place.insert(from.place.begin(), from.place.end());
    from = {};
  }

  bool IsLoneReduction(const Members& members) const {
    return members.steps.size() == 1 &&
           plan_.steps[members.steps[0]].instruction->opcode() == Opcode::kReduce;
  }

  // The slots that members of the group read from memory, not counting start values.
  absl::InlinedVector<int, 8> SlotsReadBy(int group) const {
    absl::InlinedVector<int, 8> slots;
    for (const int s : members_[group].steps) {
      const Step& step = plan_.steps[s];
      const size_t n =
          step.instruction->opcode() == Opcode::kReduce ? step.operands.size() / 2 : step.operands.size();
      for (size_t i = 0; i < n; ++i) {
        const int slot = views_.RootOf(step.operands[i]).slot;
        if (GroupOfSlot(slot) != group) slots.push_back(slot);
      }
    }
    return slots;
  }

  // A reduction alone joins a group that reads its operand as well: the array is read once. Else a sum over lines stays a
  // group, which makes it on all threads; others have a kernel of their own, for more kinds of dimensions.
  void PlaceLoneReductions() {
    absl::flat_hash_map<int, std::deque<int>> readers;  // Groups, by slot of a lone reduction's operand.
    std::vector<int> lone;
    for (int g = 0; g < static_cast<int>(members_.size()); ++g) {
      if (!IsLoneReduction(members_[g])) continue;
      lone.push_back(g);
      for (const int slot : SlotsReadBy(g)) readers[slot];
    }
    if (lone.empty()) return;
    for (int g = 0; g < static_cast<int>(members_.size()); ++g) {
      for (const int slot : SlotsReadBy(g)) {
        const auto found = readers.find(slot);
        if (found != readers.end() && (found->second.empty() || found->second.back() != g))
          found->second.push_back(g);
      }
    }
    for (const int g : lone) {
      if (!IsLoneReduction(members_[g])) continue;  // Others have joined it.
      const int s = members_[g].steps[0];
      bool joined = false;
      for (const int slot : SlotsReadBy(g)) joined = joined || JoinsOneOf(readers[slot], s, g);
      if (joined || CandidateOf(plan_.steps[s]).kind == Candidate::Kind::kLines) continue;
      group_of_[s] = -1;
      members_[g] = {};
    }
  }

  // Whether the reduction became a member of one of the first few readers; those that can take no more are taken off the list,
  // so that each is looked at a few times at most.
  bool JoinsOneOf(std::deque<int>& readers, int s, int alone) {
    constexpr size_t kMostTries = 8;
    while (!readers.empty() &&
           (members_[readers.front()].steps.empty() || !HasRoom(readers.front(), plan_.steps[s]))) {
      readers.pop_front();
    }
    for (size_t i = 0; i < std::min(readers.size(), kMostTries); ++i) {
      if (JoinsReader(s, alone, readers[i])) return true;
    }
    return false;
  }

  // The reduction, alone in its group, becomes a member of one that reads the same array. False if it cannot.
  bool JoinsReader(int s, int alone, int reader) {
    if (reader == alone || members_[reader].steps.empty() || !HasRoom(reader, plan_.steps[s])) return false;
    const Candidate candidate = CandidateOf(plan_.steps[s]);
    const Fit fit = FitOf(plan_.steps[s], candidate, members_[reader]);
    if (!fit.fits || !order_.Merge(unit_of_group_[reader], unit_of_group_[alone])) return false;
    Join(s, candidate, reader, fit, members_[alone].inputs);
    members_[alone] = {};
    part_of_[alone] = reader;
    return true;
  }

  // The new list of steps: groups, and the steps that stay.
  void Rebuild() {
    const int n = static_cast<int>(plan_.steps.size());
    for (int s = 0; s < n; ++s) {
      if (group_of_[s] >= 0) group_of_[s] = GroupAt(group_of_[s]);
    }
    for (Members& members : members_) std::sort(members.steps.begin(), members.steps.end());
    const GroupBuilder builder(plan_, views_, group_of_, members_);
    const std::vector<bool>& stays = builder.steps_that_stay();
    std::vector<Step> steps;
    std::vector<int64_t> key;  // Position of the first step.
    steps.reserve(n);
    key.reserve(n);
    for (size_t g = 0; g < members_.size(); ++g) {
      if (members_[g].steps.empty()) continue;
      key.push_back(members_[g].steps[0]);
      steps.push_back(builder.Build(members_[g]));
    }
    for (int s = 0; s < n; ++s) {
      if (!stays[s]) continue;
      key.push_back(s);
      steps.push_back(std::move(plan_.steps[s]));
    }
    plan_.steps = InOrder(std::move(steps), key);
  }

  std::vector<Step> InOrder(std::vector<Step> steps, const std::vector<int64_t>& key) const {
    const int n = static_cast<int>(steps.size());
    std::vector<int> producer(plan_.values.size(), -1), waits(n, 0);
    std::vector<absl::InlinedVector<int, 4>> users(n);
    std::vector<int> effects;
    for (int s = 0; s < n; ++s) {
      producer[steps[s].result] = s;
      for (const int slot : steps[s].more_results) producer[slot] = s;
      if (side_effects_.Has(*steps[s].instruction)) effects.push_back(s);
    }
    const auto after = [&](int before, int s) {
      users[before].push_back(s);
      ++waits[s];
    };
    for (int s = 0; s < n; ++s) {
      for (const int slot : steps[s].operands) {
        if (producer[slot] >= 0) after(producer[slot], s);
      }
    }
    std::sort(effects.begin(), effects.end(), [&](int a, int b) { return key[a] < key[b]; });
    for (size_t e = 1; e < effects.size(); ++e) after(effects[e - 1], effects[e]);
    std::priority_queue<std::pair<int64_t, int>, std::vector<std::pair<int64_t, int>>, std::greater<>> ready;
    for (int s = 0; s < n; ++s) {
      if (waits[s] == 0) ready.emplace(key[s], s);
    }
    std::vector<Step> ordered;
    ordered.reserve(n);
    while (!ready.empty()) {
      const int s = ready.top().second;
      ready.pop();
      for (const int user : users[s]) {
        if (--waits[user] == 0) ready.emplace(key[user], user);
      }
      ordered.push_back(std::move(steps[s]));
    }
    TOROID_CHECK(static_cast<int>(ordered.size()) == n, "groups wait for each other");
    return ordered;
  }

  const SideEffects& side_effects_;
  Plan& plan_;
  PlanViews views_;
  UnitOrder order_;
  std::vector<int> group_of_, unit_of_;  // By step; -1 for none.
  std::vector<Members> members_;         // By group, as the next two.
  std::vector<int> part_of_;             // Itself, or the group it has become part of.
  std::vector<int> unit_of_group_;
};

}  // namespace

void FormGroups(const SideEffects& side_effects, Plan& plan) { Former(side_effects, plan).Run(); }

}  // namespace toroid
