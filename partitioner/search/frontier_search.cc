#include "partitioner/search/frontier_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "partitioner/plan/step_costs.h"

namespace toroid {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Each choice is evaluated in at least kFewestStates states. kStepsOfPart is the budget for one part of a
// large program, in pairs of a state and a choice.
constexpr int64_t kFewestStates = 48;
constexpr int64_t kStepsOfPart = 12000;
// An op with more choices than this keeps its present decision.
constexpr double kMostChoices = 1300;
// PartAround does not go from one user of a tensor to its other users if the tensor has more users than this.
constexpr size_t kFewUsers = 8;
// Maximum number of paths kept for one state, none of which beats another in both cost and flops.
constexpr size_t kMostPaths = 4;

// The live values whose versions differ from those in the current program at the same step: (tensor, set of
// versions), in order of tensors.
using Difference = absl::InlinedVector<std::pair<int, int>, 6>;

// A path to a state. Its cost and flops are differences from the current program's.
struct Path {
  double cost = 0;
  double flops = 0;
  int last = -1;  // The index of its last node in `nodes_`; -1: none.
};
using Paths = absl::InlinedVector<Path, 1>;

// States and the paths to each, in the order in which they were reached, so that ties are broken the same way
// in every run.
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

  const Paths* Find(const Difference& difference) const {
    const auto known = number_of_.find(difference);
    return known == number_of_.end() ? nullptr : &states_[known->second].paths;
  }
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

// A decision on a path, with the index of the decision before it.
struct Node {
  int before = -1;
  int step = 0;
  int choice = 0;
  PartialOperands passed_on;
};

class Frontier {
 public:
  explicit Frontier(const FrontierSearch& search)
      : versions_(search.memo->versions()),
        steps_(*search.plan, search.units, search.memo),
        costs_(steps_, search.memo),
        num_tensors_(steps_.num_tensors()),
        max_steps_(search.max_steps) {
    versions_.LimitPlanning(search.max_plan_steps);
  }
  ~Frontier() { versions_.LimitPlanning(INT64_MAX); }

  std::optional<Plan> Run() {
    if (!FollowCurrent()) return std::nullopt;
    double all = 0;
    std::vector<int> everything;
    for (int i = 0; i < steps_.size(); ++i) {
      const double count = steps_.CountChoices(i);
      if (count > 1 && count <= kMostChoices) {
        all += count;
        everything.push_back(i);
      }
    }
    bool improved = false;
    if (all * kFewestStates <= static_cast<double>(max_steps_)) {
      improved =
          Improve(everything, static_cast<size_t>(static_cast<double>(max_steps_) / std::max(all, 1.0)));
    } else {
      for (bool again = true; again && !IsOver();) {
        again = ImproveParts();
        improved |= again;
      }
    }
    if (!improved) return std::nullopt;
    return steps_.Decided();
  }

 private:
  bool IsOver() const { return costs_.count() >= max_steps_; }

  // Records the versions and the cost of each step of the current program. False if some value cannot be
  // brought to the sharding that a step needs.
  bool FollowCurrent() {
    before_.assign(steps_.size(), {});
    after_.assign(steps_.size(), {});
    cost_.assign(steps_.size() + 1, 0);
    std::vector<int> now(num_tensors_);
    for (int t = 0; t < num_tensors_; ++t) now[t] = steps_.initial(t);
    const auto set_of = [&](int t) { return now[t]; };
    for (int i = 0; i < steps_.size(); ++i) {
      StepCosts::Taken taken;
      const ProgramStep& step = steps_.step(i);
      const bool done = step.choices.empty() ? costs_.Deliver(i, set_of, &taken)
                                             : costs_.Compute(i, 0, step.passed_on, set_of, &taken);
      if (!done) return false;
      cost_[i] = taken.cost;
      for (const auto& [t, set] : taken.after) {
        before_[i].push_back({t, now[t]});
        now[t] = set;
      }
      after_[i] = std::move(taken.after);
    }
    cost_after_.assign(steps_.size() + 1, 0);
    for (int i = steps_.size(); i-- > 0;) cost_after_[i] = cost_after_[i + 1] + cost_[i];
    return true;
  }

  // Improves a part around each step that moves data, dearest first. True if some part got better.
  bool ImproveParts() {
    std::vector<std::pair<double, int>> costly;
    for (int i = 0; i < steps_.size(); ++i) {
      if (Moves(i) > 0) costly.emplace_back(-Moves(i), i);
    }
    std::sort(costly.begin(), costly.end());
    bool improved = false;
    for (const auto& [cost, i] : costly) {
      if (IsOver()) break;
      double choices = 1;
      const std::vector<int> part = PartAround(i, &choices);
      improved |= Improve(part, static_cast<size_t>(kStepsOfPart / choices));
    }
    return improved;
  }

  // The cost of the reshardings of a step in the current program, without the op's own time.
  double Moves(int i) const {
    const ProgramStep& step = steps_.step(i);
    return step.choices.empty() ? cost_[i] : cost_[i] - step.times * step.choices[0]->choice.time;
  }

  // The steps nearest to `center`, over values that they share, as many as the budget of a part allows. Adds
  // the number of their choices to `choices`.
  std::vector<int> PartAround(int center, double* choices) const {
    std::vector<int> part;
    absl::flat_hash_set<int> seen = {center};
    std::queue<int> next;
    next.push(center);
    for (; !next.empty(); next.pop()) {
      const int i = next.front();
      const double count = steps_.CountChoices(i);
      if (count > kMostChoices) continue;
      if (count > 1) {
        if ((*choices + count) * kFewestStates > kStepsOfPart && !part.empty()) break;
        *choices += count;
        part.push_back(i);
      }
      const auto visit = [&](int step) {
        if (step >= 0 && seen.insert(step).second) next.push(step);
      };
      for (const int t : steps_.step(i).op->operands) {
        if (steps_.is_free(t)) continue;
        visit(steps_.producer(t));
        if (steps_.users(t).size() > kFewUsers) continue;
        for (const int user : steps_.users(t)) visit(user);
      }
      for (const int t : steps_.step(i).op->results) {
        for (const int user : steps_.users(t)) visit(user);
      }
    }
    std::sort(part.begin(), part.end());
    return part;
  }

  // Decides the steps of `part` anew, together; all others keep their decisions. If that makes the program
  // better, it becomes the current one and the result is true.
  bool Improve(const std::vector<int>& part, size_t most_states) {
    if (part.empty() || most_states < 2) return false;
    for (const int i : part) steps_.AddChoices(i);
    const std::optional<Path> best = Walk(part, most_states);
    const bool improved = best && best->cost < -1e-7 * cost_after_[0];
    if (improved) {
      for (int n = best->last; n >= 0; n = nodes_[n].before) {
        steps_.Decide(nodes_[n].step, nodes_[n].choice, nodes_[n].passed_on);
      }
    }
    for (const int i : part) steps_.RemoveChoices(i);
    return improved && FollowCurrent();
  }

  // The cheapest path through all steps that adds no flops, with all choices of the steps of `part`. nullopt
  // if no path remains that could cost less than the current program.
  std::optional<Path> Walk(const std::vector<int>& part, size_t most_states) {
    nodes_.clear();
    ahead_.clear();
    uses_.clear();
    now_.resize(num_tensors_);
    for (int t = 0; t < num_tensors_; ++t) now_[t] = steps_.initial(t);
    FindLeastFlops(part);
    States states;
    states.At(Difference()).push_back(Path());
    size_t next_of_part = 0;
    for (int i = 0; i < steps_.size(); ++i) {
      const bool of_part = next_of_part < part.size() && part[next_of_part] == i;
      next_of_part += of_part;
      if (!of_part && next_of_part == part.size() && states.size() == 1 && states[0].difference.empty())
        break;
      if (of_part || AnyTouched(states, i)) {
        next_.Clear();
        for (const auto& [difference, paths] : states) {
          if (!of_part && !IsTouched(difference, i)) {
            for (const Path& path : paths) Add(i, difference, path);
          } else {
            Take(i, difference, paths);
          }
        }
        if (next_.size() > most_states) KeepCheapest(i, most_states);
        std::swap(states, next_);
        if (states.size() == 0) return std::nullopt;
      }
      for (const auto& [t, set] : after_[i]) now_[t] = set;
    }
    std::optional<Path> best;
    for (const auto& [difference, paths] : states) {
      for (const Path& path : paths) {
        if (path.flops <= 0 && (!best || path.cost < best->cost)) best = path;
      }
    }
    return best;
  }

  // Fills `least_flops_`. By step: the fewest flops that it and all later steps can do, as a difference from
  // the current program.
  void FindLeastFlops(const std::vector<int>& part) {
    least_flops_.assign(steps_.size() + 1, 0);
    for (const int i : part) {
      const ProgramStep& step = steps_.step(i);
      double least = step.choices[0]->choice.flops;
      for (const NumberedChoice* choice : step.choices) least = std::min(least, choice->choice.flops);
      least_flops_[i] = step.times * (least - step.choices[0]->choice.flops);
    }
    for (int i = steps_.size(); i-- > 0;) least_flops_[i] += least_flops_[i + 1];
  }

  // Whether step `i` reads or makes a tensor of `difference`.
  bool IsTouched(const Difference& difference, int i) const {
    for (const auto& [t, set] : difference) {
      for (const auto& [other, reference] : after_[i]) {
        if (t == other) return true;
      }
    }
    return false;
  }

  bool AnyTouched(const States& states, int i) const {
    return std::any_of(states.begin(), states.end(),
                       [&](const auto& state) { return IsTouched(state.difference, i); });
  }

  // Extends the paths of a state by each choice of step `i`.
  void Take(int i, const Difference& difference, absl::Span<const Path> paths) {
    const ProgramStep& step = steps_.step(i);
    const auto set_of = [&](int t) { return SetIn(difference, t, now_[t]); };
    StepCosts::Taken taken;
    if (step.choices.empty()) {
      if (costs_.Deliver(i, set_of, &taken)) Extend(i, difference, paths, taken, 0, nullptr);
      return;
    }
    for (const PartialOperands& passed_on : costs_.Passings(i, set_of)) {
      for (size_t c = 0; c < step.choices.size(); ++c) {
        if (!costs_.Compute(i, static_cast<int>(c), passed_on, set_of, &taken)) continue;
        Node node;
        node.step = i;
        node.choice = static_cast<int>(c);
        node.passed_on = passed_on;
        const double flops = step.times * (step.choices[c]->choice.flops - step.choices[0]->choice.flops);
        Extend(i, difference, paths, taken, flops, &node);
      }
    }
  }

  // Extends the paths of the state `before` by one choice of step `i`, with the result `taken`. `flops`:
  // those it adds to the current program's; `node`: the decision, null if the step has no choices.
  void Extend(int i, const Difference& before, absl::Span<const Path> paths, const StepCosts::Taken& taken,
              double flops, const Node* node) {
    const double cost = taken.cost - cost_[i];
    bool any = false;
    for (const Path& path : paths) any |= MayWin(i, {path.cost + cost, path.flops + flops});
    if (!any) return;
    Difference difference;
    for (const auto& [t, set] : before) {
      const bool touched =
          std::any_of(taken.after.begin(), taken.after.end(), [&](const auto& v) { return v.first == t; });
      if (!touched && steps_.last_use(t) > i) difference.push_back({t, set});
    }
    for (const auto& [t, set] : taken.after) {
      if (steps_.last_use(t) <= i) continue;
      int reference = now_[t];
      for (const auto& [other, now] : after_[i]) {
        if (other == t) reference = now;
      }
      if (set != reference) difference.push_back({t, set});
    }
    std::sort(difference.begin(), difference.end());
    for (const Path& path : paths) {
      Path longer = {path.cost + cost, path.flops + flops, path.last};
      if (!MayWin(i, longer) || !IsNew(difference, longer)) continue;
      if (node != nullptr) {
        nodes_.push_back(*node);
        nodes_.back().before = path.last;
        longer.last = static_cast<int>(nodes_.size()) - 1;
      }
      Add(i, difference, longer);
    }
  }

  // Whether a path that has taken step `i` may still end with less cost and no more flops than the current
  // program.
  bool MayWin(int i, const Path& path) const {
    return path.cost < cost_after_[i + 1] && path.flops + least_flops_[i + 1] <= 0;
  }

  // Whether no known path to the state is at least as good in both cost and flops.
  bool IsNew(const Difference& difference, const Path& path) const {
    const Paths* known = next_.Find(difference);
    if (known == nullptr) return true;
    return std::none_of(known->begin(), known->end(), [&](const Path& other) {
      return other.cost <= path.cost && other.flops <= path.flops;
    });
  }

  // Adds a path to a state after step `i`, and removes the paths that it beats.
  void Add(int i, const Difference& difference, const Path& path) {
    if (!MayWin(i, path)) return;
    Paths& kept = next_.At(difference);
    kept.erase(std::remove_if(
                   kept.begin(), kept.end(),
                   [&](const Path& other) { return path.cost <= other.cost && path.flops <= other.flops; }),
               kept.end());
    if (kept.size() < kMostPaths) kept.push_back(path);
  }

  // Keeps the `most_states` states with the lowest cost so far plus Ahead.
  void KeepCheapest(int i, size_t most_states) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t k = 0; k < next_.size(); ++k) {
      double cost = kNever;
      for (const Path& path : next_[k].paths) cost = std::min(cost, path.cost);
      order.emplace_back(cost + Ahead(i, next_[k].difference), k);
    }
    std::nth_element(order.begin(), order.begin() + static_cast<int64_t>(most_states), order.end());
    std::sort(order.begin(), order.begin() + static_cast<int64_t>(most_states));
    States left;
    for (size_t k = 0; k < most_states; ++k) {
      const States::State& state = next_[order[k].second];
      left.At(state.difference) = state.paths;
    }
    std::swap(left, next_);
  }

  // Estimated extra cost, over the current program, of the later users of the values of `difference`. Each
  // user is estimated alone.
  double Ahead(int i, const Difference& difference) {
    double cost = 0;
    for (const auto& [t, set] : difference) {
      for (const int user : steps_.users(t)) {
        if (user > i) cost += CheapestUse(user, t, set) - CheapestUse(user, t, SetIn(before_[user], t, set));
      }
    }
    return cost;
  }

  // The cost of the cheapest choice of step `user` if tensor `t` has the versions of `set` and all other
  // tensors those of the current program.
  double CheapestUse(int user, int t, int set) {
    const auto known = ahead_.find({user, t, set});
    if (known != ahead_.end()) return known->second;
    double best = kNever;
    const auto consider = [&](const PartialOperands& passed_on) {
      for (const auto& [wanted, rest] : UsesOf(user, t, passed_on)) {
        best = std::min(best, steps_.step(user).times * versions_.EstimateFetch(t, set, wanted) + rest);
      }
    };
    const ProgramStep& step = steps_.step(user);
    if (step.choices.empty()) {
      consider({});
    } else {
      const auto set_of = [&](int other) {
        return other == t ? set : SetIn(before_[user], other, steps_.initial(other));
      };
      for (const PartialOperands& passed_on : costs_.Passings(user, set_of)) consider(passed_on);
    }
    if (best == kNever) best = 0;
    ahead_.emplace(std::make_tuple(user, t, set), best);
    return best;
  }

  // The shardings in which some choice of step `user` takes `t`, each with the cost of the cheapest such
  // choice, without fetching `t`.
  using Uses = std::vector<std::pair<int, double>>;
  const Uses& UsesOf(int user, int t, const PartialOperands& passed_on) {
    const auto [it, is_new] =
        uses_.try_emplace({user, t, passed_on.operands, passed_on.axes()}, std::make_unique<Uses>());
    Uses& uses = *it->second;
    if (!is_new) return uses;
    const ProgramStep& step = steps_.step(user);
    if (step.choices.empty()) {
      for (const Delivery& delivery : step.deliveries) {
        if (delivery.from == t && delivery.wanted >= 0) uses.push_back({delivery.wanted, 0});
      }
      return uses;
    }
    size_t operand = 0;
    while (step.op->operands[operand] != t) ++operand;
    StepCosts::Taken taken;
    for (size_t c = 0; c < step.choices.size(); ++c) {
      const int wanted = costs_.Wanted(user, static_cast<int>(c), operand, passed_on);
      const int there = versions_.SetOf(wanted);
      const auto set_of = [&](int other) {
        return other == t ? there : SetIn(before_[user], other, steps_.initial(other));
      };
      if (!costs_.Compute(user, static_cast<int>(c), passed_on, set_of, &taken)) continue;
      for (const int result : step.op->results) {
        taken.cost += step.times * BackToCurrent(user, result, SetIn(taken.after, result, -1));
      }
      const auto known =
          std::find_if(uses.begin(), uses.end(), [&](const auto& use) { return use.first == wanted; });
      if (known == uses.end()) {
        uses.push_back({wanted, taken.cost});
      } else {
        known->second = std::min(known->second, taken.cost);
      }
    }
    return uses;
  }

  // The set of tensor `t` in a list of (tensor, set); `otherwise` if it is not there.
  template <typename Sets>
  static int SetIn(const Sets& sets, int t, int otherwise) {
    for (const auto& [tensor, set] : sets) {
      if (tensor == t) return set;
    }
    return otherwise;
  }

  // The estimated cost of resharding a result of a step from the versions `set` to its version in the current
  // program.
  double BackToCurrent(int step, int result, int set) {
    if (steps_.last_use(result) <= step || set < 0) return 0;
    const int after = SetIn(after_[step], result, set);
    const int usual = versions_.set(after == VersionSets::kAnywhere ? steps_.initial(result) : after)[0];
    const double time = versions_.EstimateFetch(result, set, usual);
    if (time < kNever) return time;
    Sharding complete = versions_.sharding(usual);
    complete.partial = 0;
    complete.reducer = Reducer::kAdd;
    return versions_.EstimateFetch(result, set, versions_.Number(complete));
  }

  VersionSets& versions_;
  ProgramSteps steps_;
  StepCosts costs_;
  const int num_tensors_;
  const int64_t max_steps_;
  // The current program, by step: the sets of the tensors that it reads and makes, before and after it; its
  // cost; and its cost with that of all later steps.
  std::vector<SetsOfTensors> before_, after_;
  std::vector<double> cost_, cost_after_;
  // The state of one Walk.
  std::vector<int> now_;  // By tensor: its set in the current program before the present step.
  std::vector<double> least_flops_;
  States next_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<std::tuple<int, int, int>, double> ahead_;  // By user, tensor and set.
  absl::flat_hash_map<std::tuple<int, int, uint32_t, AxisSet>, std::unique_ptr<Uses>> uses_;
};

}  // namespace

std::optional<Plan> SearchFrontier(const FrontierSearch& search) { return Frontier(search).Run(); }

}  // namespace toroid
