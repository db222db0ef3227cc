// Decides some steps of a program together, by dynamic programming over the values that are live between two steps
// (frontier_search.cc).
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "partitioner/search/present_program.h"

namespace toroid {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Most paths kept for one state, none of which beats another in both cost and flops.
constexpr size_t kMostPaths = 4;
// A path must win back what it costs in the part and in this many steps that the part reaches.
constexpr size_t kMostReached = 256;
// Users of a value that are looked ahead at.
constexpr size_t kMostUses = 32;

// The live values whose versions differ from those in the present program at the same step: (tensor, set of
// versions), in order of tensors.
using Difference = SetsOfTensors;

// A path to a state. Its cost and flops are differences from the present program's.
struct Path {
  double cost = 0;
  double flops = 0;
  int last = -1;  // The number of its last decision; -1: none.
};
using Paths = absl::InlinedVector<Path, 1>;

// In the order in which they were reached, so that ties are broken the same way in every run.
class States {
 public:
  struct State {
    Difference difference;
    Paths paths;
  };
  size_t size() const { return states_.size(); }
  std::vector<State>::const_iterator begin() const { return states_.begin(); }
  std::vector<State>::const_iterator end() const { return states_.end(); }
  const State& operator[](size_t i) const { return states_[i]; }

  // The paths to a state, which is added if it is new.
  Paths& At(const Difference& difference) {
    const auto [it, is_new] = number_of_.try_emplace(difference, states_.size());
    if (is_new) states_.push_back({difference, {}});
    return states_[it->second].paths;
  }
  void Clear() {
    number_of_.clear();
    states_.clear();
  }

 private:
  absl::flat_hash_map<Difference, size_t> number_of_;
  std::vector<State> states_;
};

bool Beats(const Path& a, const Path& b) { return a.cost <= b.cost && a.flops <= b.flops; }

// Adds a path, and removes those that it beats.
void Insert(const Path& path, Paths* kept) {
  const auto is_beaten = [&](const Path& other) { return Beats(path, other); };
  kept->erase(std::remove_if(kept->begin(), kept->end(), is_beaten), kept->end());
  if (kept->size() < kMostPaths) kept->push_back(path);
}

class FrontierWalk {
 public:
  FrontierWalk(PresentProgram* program, const AxisUnits& units, LaterUses* later_uses, std::vector<int> part,
               size_t most_states)
      : program_(*program),
        steps_(program->steps()),
        units_(units),
        part_(std::move(part)),
        most_states_(most_states),
        later_uses_(*later_uses),
        agenda_(part_.begin(), part_.end()) {
    FindBounds();
  }

  PresentProgram::Decisions Run() {
    states_.At(Difference()).push_back(Path());
    while (!agenda_.empty()) {
      const int i = *agenda_.begin();
      agenda_.erase(agenda_.begin());
      if (i > part_.back() && states_.size() == 1 && states_[0].difference.empty()) break;
      Visit(i);
      if (states_.size() == 0) return {};
    }
    const Path* best = nullptr;
    for (const auto& [difference, paths] : states_) {
      for (const Path& path : paths) {
        if (path.flops <= 0 && (best == nullptr || path.cost < best->cost)) best = &path;
      }
    }
    PresentProgram::Decisions decisions;
    if (best == nullptr || best->cost >= -kLeastGain * program_.total()) return decisions;
    for (int n = best->last; n >= 0; n = nodes_[n].before)
      decisions.emplace_back(nodes_[n].step, nodes_[n].decision);
    std::reverse(decisions.begin(), decisions.end());
    return decisions;
  }

 private:
  // A decision on a path, with the number of the decision before it.
  struct Node {
    int before = -1;
    int step = 0;
    StepDecision decision;
  };

  // What a step, and all later ones that the part reaches, can save at most, and the fewest flops that they do, as a
  // difference from the present program.
  struct Bound {
    int step = 0;
    double most_saved = 0;
    double least_flops = 0;
  };

  bool IsOfPart(int step) const { return std::binary_search(part_.begin(), part_.end(), step); }

  absl::Span<const OpChoice* const> ChoicesOf(int step) const {
    if (!IsOfPart(step)) return {};
    return program_.memo().Choices(*steps_.step(step).op, units_);
  }

  // Steps that the part reaches save at most what they spend on reshardings; those of the part may also be computed by another
  // choice.
  void FindBounds() {
    std::map<int, Bound> bounds;
    std::vector<int> next;
    for (const int i : part_) {
      const ProgramStep& step = steps_.step(i);
      double time = step.choice->time, flops = step.choice->flops;
      for (const OpChoice* choice : ChoicesOf(i)) {
        time = std::min(time, choice->time);
        flops = std::min(flops, choice->flops);
      }
      bounds[i] = {i, program_.cost(i) - step.times * time, step.times * (flops - step.choice->flops)};
      next.push_back(i);
    }
    const size_t most = part_.size() + kMostReached;
    for (size_t k = 0; k < next.size() && bounds.size() < most; ++k) {
      const ProgramStep& from = steps_.step(next[k]);
      const auto reach = [&](int t) {
        for (const int user : steps_.users(t)) {
          if (user > part_.front() && bounds.try_emplace(user, Bound{user, program_.Moves(user), 0}).second) {
            next.push_back(user);
          }
        }
      };
      for (const int t : from.op->results) reach(t);
      if (k < part_.size()) {
        for (const int t : from.op->operands) reach(t);
      }
    }
    for (const auto& [i, bound] : bounds) bounds_.push_back(bound);
    bounds_.push_back({std::numeric_limits<int>::max(), 0, 0});
    for (size_t k = bounds_.size() - 1; k-- > 0;) {
      bounds_[k].most_saved += bounds_[k + 1].most_saved;
      bounds_[k].least_flops += bounds_[k + 1].least_flops;
    }
  }

  // Whether a path may still end with less cost and no more flops than the present program.
  bool MayWin(const Path& path) const {
    return path.cost < after_.most_saved && path.flops + after_.least_flops <= 0;
  }

  void Visit(int i) {
    after_ = *std::upper_bound(bounds_.begin(), bounds_.end() - 1, i,
                               [](int step, const Bound& bound) { return step < bound.step; });
    next_.Clear();
    const bool is_of_part = IsOfPart(i);
    const auto is_touched = [&](const Difference& difference) {
      return absl::c_any_of(
          difference, [&](const auto& value) { return SetIn(program_.after(i), value.first, -1) >= 0; });
    };
    for (const auto& [difference, paths] : states_) {
      if (is_of_part || is_touched(difference)) {
        Take(i, difference, paths);
        continue;
      }
      for (const Path& path : paths) {
        if (MayWin(path)) Insert(path, &next_.At(difference));
      }
    }
    if (next_.size() > most_states_) KeepCheapest(i);
    std::swap(states_, next_);
  }

  // Extends the paths of a state by each choice of step `i`.
  void Take(int i, const Difference& difference, absl::Span<const Path> paths) {
    const ProgramStep& step = steps_.step(i);
    const auto set_of = [&](int t) { return SetIn(difference, t, program_.SetBefore(i, t)); };
    StepCosts::Taken taken;
    if (step.choice == nullptr) {
      if (program_.costs().Deliver(i, set_of, &taken)) Extend(i, difference, paths, taken, 0, nullptr);
      return;
    }
    for (const PartialOperands& passed_on : program_.costs().Passings(i, set_of)) {
      const auto extend = [&](const OpChoice* choice) {
        if (!program_.costs().Compute(i, *choice, passed_on, set_of, &taken)) return;
        const Node node = {-1, i, {choice, passed_on}};
        Extend(i, difference, paths, taken, step.times * (choice->flops - step.choice->flops), &node);
      };
      extend(step.choice);
      for (const OpChoice* choice : ChoicesOf(i)) {
        if (choice != step.choice) extend(choice);
      }
    }
  }

  // Extends the paths of the state `before` by one choice of step `i`, with the result `taken`. `flops`: those it adds to the
  // present program's; `node`: the decision, null if the step has no choices.
  void Extend(int i, const Difference& before, absl::Span<const Path> paths, const StepCosts::Taken& taken,
              double flops, const Node* node) {
    const double cost = taken.cost - program_.cost(i);
    const auto may_win = [&](const Path& path) { return MayWin({path.cost + cost, path.flops + flops}); };
    if (absl::c_none_of(paths, may_win)) return;
    const Difference difference = DifferenceAfter(i, before, taken);
    Paths& kept = next_.At(difference);
    if (kept.empty()) {
      for (const auto& [t, set] : difference) {
        const int next = program_.NextUse(t, i);
        if (next >= 0) agenda_.insert(next);
      }
    }
    for (const Path& path : paths) {
      Path longer = {path.cost + cost, path.flops + flops, path.last};
      const auto beats = [&](const Path& other) { return Beats(other, longer); };
      if (!MayWin(longer) || absl::c_any_of(kept, beats)) continue;
      if (node != nullptr) {
        nodes_.push_back(*node);
        nodes_.back().before = path.last;
        longer.last = static_cast<int>(nodes_.size()) - 1;
      }
      Insert(longer, &kept);
    }
  }

  Difference DifferenceAfter(int i, const Difference& before, const StepCosts::Taken& taken) const {
    Difference difference;
    for (const auto& [t, set] : before) {
      if (SetIn(taken.after, t, -1) < 0 && steps_.last_use(t) > i) difference.push_back({t, set});
    }
    for (const auto& [t, set] : taken.after) {
      if (steps_.last_use(t) > i && set != SetIn(program_.after(i), t, -1)) difference.push_back({t, set});
    }
    std::sort(difference.begin(), difference.end());
    return difference;
  }

  // The extra cost, over the present program, of the next users of tensor `t` after step `i` if it then has the versions of
  // `set`. Each user is estimated alone.
  double ExtraCost(int i, int t, int set) {
    const std::vector<int>& users = steps_.users(t);
    const size_t first = std::upper_bound(users.begin(), users.end(), i) - users.begin();
    const auto [known, is_new] = extra_.try_emplace({t, set, first}, 0);
    if (!is_new) return known->second;
    double extra = 0;
    for (size_t k = first; k < users.size() && k < first + kMostUses; ++k) {
      const int user = users[k], usual = SetIn(program_.before(user), t, set);
      if (usual == set) continue;
      const bool anew = IsOfPart(user);
      extra += later_uses_.CheapestUse(user, t, set, anew) - later_uses_.CheapestUse(user, t, usual, anew);
    }
    return known->second = extra;
  }

  // Keeps the states with the lowest cost so far plus the extra cost of the later uses of their values.
  void KeepCheapest(int i) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t k = 0; k < next_.size(); ++k) {
      double cost = kNever;
      for (const Path& path : next_[k].paths) cost = std::min(cost, path.cost);
      for (const auto& [t, set] : next_[k].difference) cost += ExtraCost(i, t, set);
      order.emplace_back(cost, k);
    }
    std::nth_element(order.begin(), order.begin() + static_cast<int64_t>(most_states_), order.end());
    std::sort(order.begin(), order.begin() + static_cast<int64_t>(most_states_));
    States left;
    for (size_t k = 0; k < most_states_; ++k) {
      const States::State& state = next_[order[k].second];
      left.At(state.difference) = state.paths;
    }
    std::swap(left, next_);
  }

  PresentProgram& program_;
  const ProgramSteps& steps_;
  const AxisUnits& units_;
  const std::vector<int> part_;
  const size_t most_states_;
  LaterUses& later_uses_;
  absl::flat_hash_map<std::tuple<int, int, size_t>, double> extra_;  // By tensor, set and next user.
  std::set<int> agenda_;  // Steps to visit: those of the part, and those whose tensors differ in some state.
  std::vector<Bound> bounds_;  // In the order of steps; the last one is that of no step.
  Bound after_;                // Of the steps after the one that is visited.
  States states_, next_;
  std::vector<Node> nodes_;
};

}  // namespace

PresentProgram::Decisions DecideSteps(PresentProgram* program, const AxisUnits& units, LaterUses* later_uses,
                                      std::vector<int> part, size_t most_states) {
  return FrontierWalk(program, units, later_uses, std::move(part), most_states).Run();
}

}  // namespace toroid
