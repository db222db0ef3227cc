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
// problem.steps, the instructions of all plans that may be priced, bounds the number of plans, so that the time is linear in the
// size of the program.
//
// Example on 4 devices: h is cut by columns for tanh(h) w, but its two other users take rows. Three moves of
// h become one move of w.
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "partitioner/search/nearby_shardings.h"
#include "partitioner/search/propagate.h"
#include "partitioner/search/strategies.h"

namespace toroid {
namespace {

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
