// Improves a plan by trying other shardings of single tensors.
//
// Propagation and rewriting decide each op alone. If the ops of a chain or a diamond disagree, the choice
// that is best for one op may cost later ops more. The search visits the ops around which the plan moves
// data, most bytes first. For each tensor of such an op it tries three kinds of sharding: the one that the
// op would choose if the tensor were free, those that each other tensor of the op implies, and replicated.
// The tensor's producer computes it in this sharding; or, for an operand, a copy in this sharding is made
// before its users, or the tensors that it is computed from are copied before theirs. The change is
// propagated and the plan is priced; a better one stays. If none
// stays, the search tries to cut one or two dimensions of the tensor over the axis lists that cut any of
// the op's tensors.
//
// problem.steps, the instructions of all plans that may be priced, bounds the number of plans, so that the time is linear in
// the size of the program.
//
// Example on 4 devices: h is cut by columns for tanh(h) w, but its two other users take rows. Three moves of
// h become one move of w.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "partitioner/search/strategies.h"

namespace toroid {
namespace {

// Maximum number of producers that Sources follows back.
constexpr int kSteps = 4;
// Maximum number of shardings that All returns.
constexpr size_t kMostShardings = 32;

const TensorFactors& FactorsOf(const FlowOp& op, size_t i) {
  return i < op.operands.size() ? op.rule->operands[i] : op.rule->results[i - op.operands.size()];
}

// The sharding of one tensor, all others being free (Places).
auto Only(int tensor, const Sharding& sharding) {
  return [tensor, &sharding](int t) { return t == tensor ? &sharding : nullptr; };
}

// Other shardings for the tensors around an op, to be tried one by one.
class NearbyShardings {
 public:
  // `memo` must outlive this object.
  explicit NearbyShardings(PlanMemo* memo)
      : memo_(*memo), program_(memo->program()), graph_(*program_.graph) {
    producer_.assign(graph_.num_tensors(), nullptr);
    users_.resize(graph_.num_tensors());
    for (const FlowOp& op : graph_.ops()) {
      if (!HasRule(op)) continue;
      for (const int t : op.operands) users_[t].push_back(&op);
      for (const int t : op.results) producer_[t] = op.instruction == nullptr ? nullptr : &op;
    }
  }

  // Ops that need communication to get their operands from, or bring their results to, the plan's shardings; most bytes first.
  std::vector<const FlowOp*> ContestedOps(const ShardingPlan& plan) {
    std::vector<std::pair<int64_t, const FlowOp*>> ops;
    for (const FlowOp& op : graph_.ops()) {
      if (!HasRule(op)) continue;
      const int64_t sent = Assign(op, [&](int t) { return &plan[t]; }).sent_bytes;
      if (sent > 0) ops.emplace_back(-sent, &op);
    }
    std::sort(ops.begin(), ops.end());
    std::vector<const FlowOp*> sorted;
    for (const auto& [sent, op] : ops) sorted.push_back(op);
    return sorted;
  }

  // The sharding that the op would choose for its tensor `i` if it were free, those that each other tensor of the op alone
  // implies, and replicated.
  std::vector<Sharding> Likely(const FlowOp& op, size_t i, const ShardingPlan& plan) {
    const auto tensors = TensorsOf(op);
    const int t = tensors[i];
    std::vector<Sharding> shardings = {Under(
        op, FactorsOf(op, i), Assign(op, [&](int other) { return other == t ? nullptr : &plan[other]; }))};
    for (const int other : tensors) {
      if (other != t) shardings.push_back(Under(op, FactorsOf(op, i), Assign(op, Only(other, plan[other]))));
    }
    shardings.push_back(Sharding::Replicated(graph_.shape(t).rank()));
    return shardings;
  }

  // All shardings of tensor `i` in which one or two dimensions are cut over axis lists that cut dimensions of the op's tensors;
  // at most 32.
  std::vector<Sharding> All(const FlowOp& op, size_t i, const ShardingPlan& plan) const {
    std::vector<AxisList> lists;
    for (const int t : TensorsOf(op)) {
      for (const AxisList& list : plan[t].dims) {
        if (!list.empty() && std::find(lists.begin(), lists.end(), list) == lists.end())
          lists.push_back(list);
      }
    }
    const int t = TensorsOf(op)[i];
    const int rank = graph_.shape(t).rank();
    const AxisSet manual = program_.annotations.manual[t];
    std::vector<Sharding> shardings;
    const auto fits = [&](const AxisList& list, int d) {
      return (list.Set() & manual) == 0 && program_.annotations.mesh.Product(list) <= graph_.shape(t).dim(d);
    };
    for (int d = 0; d < rank; ++d) {
      for (const AxisList& list : lists) {
        if (!fits(list, d)) continue;
        Sharding one = Sharding::Replicated(rank);
        one.dims[d] = list;
        shardings.push_back(one);
        for (int e = d + 1; e < rank; ++e) {
          for (const AxisList& other : lists) {
            if ((other.Set() & list.Set()) != 0 || !fits(other, e)) continue;
            Sharding two = one;
            two.dims[e] = other;
            shardings.push_back(std::move(two));
          }
        }
      }
    }
    if (shardings.size() > kMostShardings) shardings.resize(kMostShardings);
    return shardings;
  }

  // The tensors that may be copied before their users so that `tensor` is made in `sharding`, each with its sharding: the
  // tensor itself, the largest operand of its producer, and so on, those that have several users.
  std::vector<std::pair<int, Sharding>> Sources(int tensor, const Sharding& sharding) {
    std::vector<std::pair<int, Sharding>> sources;
    int t = tensor;
    Sharding wanted = sharding;
    for (int step = 0; step < kSteps; ++step) {
      if (users_[t].size() > 1) sources.emplace_back(t, wanted);
      const FlowOp* op = producer_[t];
      if (op == nullptr || op->results.size() != 1) break;
      const Assignment& assignment = Assign(*op, Only(t, wanted));
      int largest = -1;
      for (size_t i = 0; i < op->operands.size(); ++i) {
        if (!graph_.shape(op->operands[i]).IsArray()) continue;
        if (largest < 0 ||
            graph_.shape(op->operands[i]).ByteSize() > graph_.shape(op->operands[largest]).ByteSize()) {
          largest = static_cast<int>(i);
        }
      }
      if (largest < 0) break;
      wanted = Under(*op, op->rule->operands[largest], assignment);
      t = op->operands[largest];
    }
    return sources;
  }

  // The results of the users of `tensor` if it has `sharding`, each with the sharding that follows.
  std::vector<std::pair<int, Sharding>> ResultsOfUsers(int tensor, const Sharding& sharding) {
    std::vector<std::pair<int, Sharding>> results;
    for (const FlowOp* user : users_[tensor]) {
      if (user->instruction == nullptr) continue;
      const Assignment& assignment = Assign(*user, Only(tensor, sharding));
      for (size_t i = 0; i < user->results.size(); ++i) {
        results.emplace_back(user->results[i], Under(*user, user->rule->results[i], assignment));
      }
    }
    return results;
  }

 private:
  // The sharding of a tensor; null if it is free.
  using Places = absl::FunctionRef<const Sharding*(int tensor)>;

  bool HasRule(const FlowOp& op) const {
    return !op.rule->factors.empty() && !program_.annotations.boundaries.contains(op.instruction);
  }

  // The cheapest assignment of an op.
  const Assignment& Assign(const FlowOp& op, Places places) {
    DecisionKey key;
    key.op_class = memo_.ClassOf(op);
    for (const int t : TensorsOf(op)) {
      const Sharding* place = places(t);
      key.tensors.push_back(place == nullptr ? -1 : memo_.versions().Number(*place));
    }
    return memo_.Decision(std::move(key), [&] {
      AssignmentProblem problem = ProblemOf(graph_, op, [&](int t, bool, TensorView* view) {
        if (const Sharding* place = places(t)) view->places.push_back(*place);
      });
      problem.reserved = program_.annotations.ManualAxesOf(op);
      return ChooseAssignment(problem, program_.pricing());
    });
  }

  Sharding Under(const FlowOp& op, const TensorFactors& tensor, const Assignment& assignment) const {
    return ShardingUnder(program_.annotations.mesh, *op.rule, tensor, assignment.factor_axes);
  }

  PlanMemo& memo_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  std::vector<const FlowOp*> producer_;  // By tensor.
  std::vector<std::vector<const FlowOp*>> users_;
};

// Maximum number of trials for each plan that may be priced; many trials propagate to a known plan.
constexpr int64_t kTrialsPerPlan = 4;

class NeighbourSearcher {
 public:
  NeighbourSearcher(const SearchProblem& problem, const PricedPlan& from)
      : problem_(problem),
        program_(problem.memo->program()),
        graph_(*program_.graph),
        nearby_(problem.memo),
        best_(from),
        annotations_(program_.annotations),
        max_plans_(problem.steps / program_.flat->NumInstructions()) {
    fixed_.assign(graph_.num_tensors(), false);
    for (const int t : BoundaryTensors(program_)) {
      fixed_[t] = true;
      if (annotations_.tensor[t] && annotations_.tensor[t]->foreign) continue;
      annotations_.tensor[t] = Annotation::Closed(from.plan.shardings[t]);
    }
  }

  // Plans that improve on the first one, and each on the one before it.
  std::vector<PricedPlan> Run() {
    // Each change that stays starts a new round, over the ops that are then contested.
    for (bool changed = true; changed && !IsOver();) {
      changed = Round(/*likely=*/true) || Round(/*likely=*/false);
    }
    return std::move(improved_);
  }

 private:
  // The trial of a tensor in a sharding: either its producer computes it so, or it is copied to this sharding
  // before its users, whose results then follow it.
  enum Kind { kComputed, kBeforeUsers };
  struct Trial {
    Kind kind;
    int tensor;
    Sharding sharding;
  };

  bool IsOver() const {
    return plans_ >= max_plans_ || program_.planner->steps() - first_step_ >= kPlanSteps ||
           trials_ >= kTrialsPerPlan * max_plans_;
  }

  // Tries likely or all shardings around each contested op until one is taken. False if none is.
  bool Round(bool likely) {
    for (const FlowOp* op : nearby_.ContestedOps(best_.plan.shardings)) {
      for (const Trial& trial : TrialsOf(*op, likely)) {
        if (IsOver()) return false;
        if (!tried_.emplace(trial.tensor, trial.kind, trial.sharding.dims).second) continue;
        ++trials_;
        if (Try(trial)) return true;
      }
    }
    return false;
  }

  // Propagates a trial. If the plan is better than the best one, it becomes the best one and the result is true.
  bool Try(const Trial& trial) {
    std::vector<std::pair<int, std::optional<Annotation>>> before;
    const auto pin = [&](int t, Sharding sharding) {
      before.emplace_back(t, annotations_.tensor[t]);
      annotations_.tensor[t] = Annotation::Closed(std::move(sharding));
    };
    Plan plan;
    plan.form = best_.plan.form;
    plan.early = best_.plan.early;
    if (trial.kind == kComputed) {
      pin(trial.tensor, trial.sharding);
    } else {
      plan.early.insert_or_assign(trial.tensor, trial.sharding);
      for (auto& [result, sharding] : nearby_.ResultsOfUsers(trial.tensor, trial.sharding)) {
        if (MayPin(result)) pin(result, std::move(sharding));
      }
    }
    plan.shardings = ProposeShardings(program_, annotations_);
    if (IsBetter(trial, std::move(plan))) {
      for (const auto& [t, annotation] : before) pinned_.insert(t);
      tried_.clear();
      return true;
    }
    for (auto undo = before.rbegin(); undo != before.rend(); ++undo) {
      annotations_.tensor[undo->first] = undo->second;
    }
    return false;
  }

  bool IsBetter(const Trial& trial, Plan plan) {
    if (plan.shardings == best_.plan.shardings && trial.kind == kComputed) return false;
    for (size_t t = 0; t < fixed_.size(); ++t) {
      if (fixed_[t] && plan.shardings[t] != best_.plan.shardings[t]) return false;
    }
    ++plans_;
    std::optional<PricedPlan> priced =
        DecideGreedily(std::move(plan), *best_.policy, /*fixed_outputs=*/true, problem_.memo);
    if (!priced || priced->price.replicated > best_.price.replicated) return false;
    if (!Improves(priced->price, best_.price, problem_.by)) return false;
    best_ = *std::move(priced);
    improved_.push_back(best_);
    return true;
  }

  // Whether a trial may set the sharding of a tensor: it is an array, not fixed, and not annotated by the
  // module.
  bool MayPin(int t) const {
    const bool asked = annotations_.tensor[t].has_value() && !pinned_.contains(t);
    return !fixed_[t] && !asked && graph_.shape(t).IsArray();
  }

  std::vector<Trial> TrialsOf(const FlowOp& op, bool likely) {
    const auto tensors = TensorsOf(op);
    const ShardingPlan& plan = best_.plan.shardings;
    std::vector<Trial> trials;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const int t = tensors[i];
      if (!graph_.shape(t).IsArray()) continue;
      for (const Sharding& sharding : likely ? nearby_.Likely(op, i, plan) : nearby_.All(op, i, plan)) {
        if (sharding.dims == plan[t].dims) continue;
        if (MayPin(t)) trials.push_back({kComputed, t, sharding});
        if (i >= op.operands.size()) continue;
        for (auto& [source, wanted] : nearby_.Sources(t, sharding)) {
          trials.push_back({kBeforeUsers, source, std::move(wanted)});
        }
      }
    }
    return trials;
  }

  const SearchProblem& problem_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  NearbyShardings nearby_;
  PricedPlan best_;
  Annotations annotations_;  // Those of the program, and the changes of the best plan.
  const int64_t max_plans_;
  std::vector<PricedPlan> improved_;
  std::vector<bool> fixed_;  // By tensor: whether the caller of the program sees it.
  const int64_t first_step_ = program_.planner->steps();
  absl::flat_hash_set<int> pinned_;  // Tensors that this search annotated.
  int64_t plans_ = 0;                // Priced so far.
  int64_t trials_ = 0;
  // Trials made since the last change.
  absl::flat_hash_set<std::tuple<int, Kind, absl::InlinedVector<AxisList, 4>>> tried_;
};

}  // namespace

std::vector<PricedPlan> ChangeNeighbours(const SearchProblem& problem, const PricedPlan& from) {
  if (from.price.sent_bytes == 0 || problem.steps < problem.memo->program().flat->NumInstructions())
    return {};
  return NeighbourSearcher(problem, from).Run();
}

}  // namespace toroid
