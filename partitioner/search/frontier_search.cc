// Proposes plans in which ops are decided together, by dynamic programming over the values that are live between two ops.
//
// The axes that the plan uses together cut an op together. In small meshes each prime-sized axis is also tried by itself; since
// that splits axes that the program names, such a plan must send at most 75 % of the bytes.
//
// The search takes ops in program order. A state is the set of shardings in which each live value exists
// (version_sets.h). Each choice of an op (op_choices.h), with partial operands reduced first or passed on,
// leads from one state to another at the cost of its communication, memory traffic and, if the cost model
// prices them, flops. Several paths lead to a state; those that no other path beats in both cost and flops
// are kept.
//
// If the budget allows it, all ops are decided at once; if moreover no state had to be dropped, the result is
// the cheapest program by the model. In larger programs the search takes the ops that move data, dearest
// first, and decides the ops around each anew while all other ops keep their decisions. What it finds for one part, or that it
// finds nothing, holds for all parts that are alike, so that the layers of a model are searched once. If there are too many
// states, those stay that have the lowest cost so far plus the estimated cost of the next uses of their
// values. Values at the ends of loops, branches and manual regions keep the plan's shardings. Ops in a loop
// count once per trip.
//
// Example on 2 devices: x is cut by rows; y = dot(x, w) is needed by columns and z = dot(y, v) replicated. If
// each op is decided alone, y is computed by rows. Gathering x once costs less than moving y and z.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "hlo/base/disjoint_sets.h"
#include "partitioner/search/present_program.h"
#include "partitioner/search/strategies.h"

namespace toroid {
namespace {

// In a mesh of at most this many prime-sized axes each axis is tried by itself.
constexpr int kFewAxes = 3;
constexpr double kMaxSentWithSplitAxes = 0.75;
// Each choice is evaluated in kFewestStates to kMostStates states. kStepsOfPart is the budget for one part of a
// large program, in pairs of a state and a choice.
constexpr int64_t kFewestStates = 48, kMostStates = 256;
constexpr int64_t kStepsOfPart = 12000;
// An op with more choices than this keeps its present decision.
constexpr double kMostChoices = 1300;
// PartAround does not go from one user of a tensor to its other users if the tensor has more users than this.
constexpr size_t kFewUsers = 8;

// The steps around a step that moves data, nearest first.
struct Part {
  std::vector<int> steps;
  double choices = 0;
};

class Frontier {
 public:
  // `from`: a plan with decisions for all ops. `units`: the runs of axes that may cut a factor.
  Frontier(const SearchProblem& problem, const Plan& from, AxisUnits units)
      : memo_(*problem.memo),
        program_(from, problem.memo),
        units_(std::move(units)),
        max_steps_(problem.steps),
        later_uses_(&program_, units_) {
    program_.versions().LimitPlanning(kPlanSteps);
  }
  ~Frontier() { program_.versions().LimitPlanning(INT64_MAX); }

  // A plan with other decisions that by the model costs less and computes no more flops; nullopt if there is none.
  std::optional<Plan> Run() {
    if (!program_.Follow()) return std::nullopt;
    last_step_ = program_.costs().count() + max_steps_;
    const std::vector<Part> apart = PartsApart();
    double all = 0;
    for (const Part& part : apart) all += part.choices;
    bool improved = false;
    if ((1 + all) * kFewestStates <= static_cast<double>(max_steps_)) {
      for (const Part& part : apart) improved |= Improve(part.steps, StatesFor(max_steps_, all));
    } else {
      for (bool again = true; again && !IsOver();) {
        again = ImproveParts();
        improved |= again;
      }
    }
    if (!improved) return std::nullopt;
    return program_.steps().Decided();
  }

 private:
  // The number of states in which a budget of steps allows to evaluate `choices` choices.
  static size_t StatesFor(int64_t steps, double choices) {
    return static_cast<size_t>(std::min<double>(kMostStates, static_cast<double>(steps) / (1 + choices)));
  }

  bool IsOver() const { return program_.costs().count() >= last_step_; }

  double CountChoices(int i) const {
    const ProgramStep& step = program_.steps().step(i);
    return step.choice == nullptr ? 1 : toroid::CountChoices(memo_.program(), *step.op, units_);
  }

  // The steps that can be decided, in parts that share no value: each can be decided by itself.
  std::vector<Part> PartsApart() const {
    const ProgramSteps& steps = program_.steps();
    DisjointSets joined(steps.num_tensors());
    for (const ProgramStep& step : steps.steps()) {
      int first = -1;
      const auto join = [&](int t) {
        if (steps.is_free(t)) return;
        if (first >= 0) joined.Join(first, t);
        first = t;
      };
      for (const int t : TensorsOf(*step.op)) join(t);
    }
    std::map<int, Part> parts;  // By the tensor that stands for all of them.
    for (int i = 0; i < steps.size(); ++i) {
      const FlowOp& op = *steps.step(i).op;
      const double count = CountChoices(i);
      if (count <= 1 || count > kMostChoices) continue;
      Part& part = parts[joined.Root(op.results.empty() ? op.operands[0] : op.results[0])];
      part.steps.push_back(i);
      part.choices += count;
    }
    std::vector<Part> apart;
    for (auto& [t, part] : parts) apart.push_back(std::move(part));
    return apart;
  }

  // Improves a part around each step that moves data, dearest first. True if some part got better.
  bool ImproveParts() {
    std::vector<std::pair<double, int>> costly;
    for (int i = 0; i < program_.steps().size(); ++i) {
      if (program_.Moves(i) > 0) costly.emplace_back(-program_.Moves(i), i);
    }
    std::sort(costly.begin(), costly.end());
    bool improved = false;
    for (const auto& [cost, i] : costly) {
      const Part part = PartAround(i);
      if (part.steps.empty()) continue;
      const size_t signature = SignatureOf(part);
      if (const std::vector<StepDecision>* found = memo_.DecisionsOfPart(signature)) {
        improved |= Repeat(*found, part);
        continue;
      }
      if (IsOver()) break;
      std::vector<int> sorted = part.steps;
      std::sort(sorted.begin(), sorted.end());
      std::vector<StepDecision> found;
      if (Improve(sorted, StatesFor(kStepsOfPart, part.choices))) {
        improved = true;
        for (const int step : part.steps) found.push_back(program_.steps().step(step));
      }
      memo_.SetDecisionsOfPart(signature, std::move(found));
    }
    return improved;
  }

  int ClassOf(int i) const { return memo_.ClassOf(*program_.steps().step(i).op); }

  // Decides a part like one of the same signature, whose decisions are `found`; none if it could not be improved. True if that
  // makes the program cheaper.
  bool Repeat(const std::vector<StepDecision>& found, const Part& part) {
    if (found.size() != part.steps.size()) return false;
    PresentProgram::Decisions repeated, present;
    for (size_t k = 0; k < part.steps.size(); ++k) {
      present.emplace_back(part.steps[k], program_.steps().step(part.steps[k]));
      repeated.emplace_back(part.steps[k], found[k]);
    }
    const double cost = program_.total();
    if (!program_.Replace(repeated)) return false;
    if (program_.total() < cost * (1 - kLeastGain)) {
      later_uses_.Clear();
      return true;
    }
    program_.Replace(present);
    return false;
  }

  // Parts with the same signature have the same ops, decisions and versions of values in the same order, and users that spend
  // the same on reshardings.
  size_t SignatureOf(const Part& part) const {
    size_t hash = absl::HashOf(units_, part.steps.size());
    for (const int i : part.steps) {
      const ProgramStep& step = program_.steps().step(i);
      hash = absl::HashOf(hash, ClassOf(i), step.choice, step.passed_on.operands, step.passed_on.axes,
                          step.times);
      for (const auto& [t, set] : program_.before(i)) hash = absl::HashOf(hash, set);
      for (const auto& [t, set] : program_.after(i)) {
        const std::vector<int>& users = program_.steps().users(t);
        hash = absl::HashOf(hash, set, users.size());
        if (users.size() > kFewUsers) continue;
        for (const int user : users) hash = absl::HashOf(hash, ClassOf(user), program_.Moves(user));
      }
    }
    return hash;
  }

  // The steps nearest to `center`, over values that they share, as many as the budget of a part allows.
  Part PartAround(int center) const {
    const ProgramSteps& steps = program_.steps();
    Part part;
    absl::flat_hash_set<int> seen = {center};
    std::queue<int> next;
    next.push(center);
    for (; !next.empty(); next.pop()) {
      const int i = next.front();
      const double count = CountChoices(i);
      if (count > kMostChoices) continue;
      if (count > 1) {
        if ((1 + part.choices + count) * kFewestStates > kStepsOfPart && !part.steps.empty()) break;
        part.choices += count;
        part.steps.push_back(i);
      }
      const auto visit = [&](int step) {
        if (step >= 0 && seen.insert(step).second) next.push(step);
      };
      for (const int t : steps.step(i).op->operands) {
        if (steps.is_free(t)) continue;
        visit(steps.producer(t));
        if (steps.users(t).size() > kFewUsers) continue;
        for (const int user : steps.users(t)) visit(user);
      }
      for (const int t : steps.step(i).op->results) {
        for (const int user : steps.users(t)) visit(user);
      }
    }
    return part;
  }

  // Decides the steps of `part`, which are in order, anew, together; all others keep their decisions. If that makes the program
  // better, it becomes the present one and the result is true.
  bool Improve(const std::vector<int>& part, size_t most_states) {
    if (part.empty() || most_states < 2) return false;
    const PresentProgram::Decisions decisions =
        DecideSteps(&program_, units_, &later_uses_, part, most_states);
    if (decisions.empty() || !program_.Replace(decisions)) return false;
    later_uses_.Clear();
    return true;
  }

  PlanMemo& memo_;
  PresentProgram program_;
  const AxisUnits units_;
  const int64_t max_steps_;
  LaterUses later_uses_;
  int64_t last_step_ = 0;
};

}  // namespace

std::vector<PricedPlan> DecideTogether(const SearchProblem& problem, const PricedPlan& from) {
  std::vector<PricedPlan> proposed;
  if (from.price.sent_bytes == 0) return proposed;
  const PreparedProgram& program = problem.memo->program();
  const Mesh& mesh = program.annotations.mesh;
  const AxisUnits together = UnitsOf(mesh, from.plan.shardings);
  std::vector<AxisUnits> tried = {together};
  if (mesh.num_axes() <= kFewAxes && together != SingleAxes(mesh)) tried.push_back(SingleAxes(mesh));
  proposed.reserve(tried.size());  // `best` points into it.
  const PricedPlan* best = &from;
  for (size_t i = 0; i < tried.size(); ++i) {
    std::optional<Plan> found = Frontier(problem, best->plan, tried[i]).Run();
    if (!found) continue;
    found->early.clear();  // The decisions say themselves where values are moved.
    std::optional<PricedPlan> plan =
        DecideGreedily(*std::move(found), *from.policy, /*fixed_outputs=*/true, problem.memo);
    if (!plan) continue;
    if (i > 0 && plan->price.sent_bytes > kMaxSentWithSplitAxes * from.price.sent_bytes) continue;
    if (!Improves(plan->price, best->price, problem.by)) continue;
    proposed.push_back(*std::move(plan));
    best = &proposed.back();
  }
  return proposed;
}

}  // namespace toroid
