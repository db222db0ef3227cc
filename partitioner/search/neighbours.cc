#include "partitioner/search/neighbours.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "partitioner/propagation/flow_problem.h"
#include "partitioner/propagation/propagation.h"
#include "partitioner/search/propagate.h"

namespace toroid {
namespace {

// Maximum number of producers that AddSources follows back from an operand.
constexpr int kSteps = 4;
// Maximum number of shardings that AllShardings returns.
constexpr size_t kMostShardings = 32;
// Maximum number of trials for each plan that may be priced; many trials propagate to a known plan.
constexpr int64_t kTrialsPerPlan = 4;

class NeighbourSearcher {
 public:
  NeighbourSearcher(const SearchProblem& problem, const PricedPlan& from)
      : problem_(problem),
        program_(problem.memo->program()),
        graph_(*program_.graph),
        best_(from),
        annotations_(program_.annotations),
        max_plans_(problem.steps / program_.flat->NumInstructions()) {
    fixed_.assign(graph_.num_tensors(), false);
    for (const int t : BoundaryTensors(program_)) {
      fixed_[t] = true;
      if (annotations_.tensor[t] && annotations_.tensor[t]->foreign) continue;
      Annotation fixed;
      fixed.sharding = from.plan.shardings[t];
      fixed.closed = ~uint64_t{0};
      annotations_.tensor[t] = std::move(fixed);
    }
    producer_.assign(graph_.num_tensors(), nullptr);
    users_.resize(graph_.num_tensors());
    for (const FlowOp& op : graph_.ops()) {
      if (!HasRule(op)) continue;
      for (const int t : op.operands) users_[t].push_back(&op);
      for (const int t : op.results) producer_[t] = op.instruction == nullptr ? nullptr : &op;
    }
  }

  // Plans that improve on the first one, and each on the one before it.
  std::vector<PricedPlan> Run() {
    // Each change that stays starts a new round, over the ops that are then contested.
    for (bool changed = true; changed && !IsOver();) {
      changed = Round(&NeighbourSearcher::LikelyShardings) || Round(&NeighbourSearcher::AllShardings);
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
  using Places = absl::flat_hash_map<int, Sharding>;

  bool IsOver() const {
    return plans_ >= max_plans_ || program_.planner->steps() - first_step_ >= kPlanSteps ||
           trials_ >= kTrialsPerPlan * max_plans_;
  }

  bool HasRule(const FlowOp& op) const {
    return !op.rule->factors.empty() && !program_.annotations.boundaries.contains(op.instruction);
  }

  // A function that returns the shardings to try for tensor `i` of an op; operands come first, then results.
  using Shardings = std::vector<Sharding> (NeighbourSearcher::*)(const FlowOp& op, size_t i);

  // Tries the trials of each contested op until one is taken. False if none is.
  bool Round(Shardings shardings) {
    for (const FlowOp* op : ContestedOps()) {
      for (const Trial& trial : TrialsOf(*op, shardings)) {
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
      std::optional<Annotation>& annotation = annotations_.tensor[t];
      before.emplace_back(t, annotation);
      annotation.emplace();
      annotation->sharding = std::move(sharding);
      annotation->closed = ~uint64_t{0};
    };
    Plan plan;
    plan.form = best_.plan.form;
    plan.early = best_.plan.early;
    if (trial.kind == kComputed) {
      pin(trial.tensor, trial.sharding);
    } else {
      plan.early.insert_or_assign(trial.tensor, trial.sharding);
      for (const FlowOp* user : users_[trial.tensor]) {
        if (user->instruction == nullptr) continue;
        const Assignment& assignment = Assign(*user, {{trial.tensor, trial.sharding}});
        for (size_t i = 0; i < user->results.size(); ++i) {
          if (!MayPin(user->results[i])) continue;
          pin(user->results[i], Under(*user, user->rule->results[i], assignment));
        }
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

  Sharding Under(const FlowOp& op, const TensorFactors& tensor, const Assignment& assignment) const {
    return ShardingUnder(program_.annotations.mesh, *op.rule, tensor, assignment.factor_axes);
  }

  // Whether a trial may set the sharding of a tensor: it is an array, not fixed, and not annotated by the
  // module.
  bool MayPin(int t) const {
    const bool asked = annotations_.tensor[t].has_value() && !pinned_.contains(t);
    return !fixed_[t] && !asked && graph_.shape(t).IsArray();
  }

  // The cheapest assignment of an op if the tensors in `places` have these shardings and its other tensors
  // are free.
  const Assignment& Assign(const FlowOp& op, const Places& places) {
    DecisionKey key;
    key.op_class = problem_.memo->ClassOf(op);
    for (const int t : TensorsOf(op)) {
      const auto place = places.find(t);
      key.tensors.push_back(place == places.end() ? -1 : problem_.memo->versions().Number(place->second));
    }
    return problem_.memo->Decision(std::move(key), [&] {
      const AssignmentProblem problem = ProblemOf(graph_, op, [&](int t, bool) {
        TensorState state;
        const auto place = places.find(t);
        if (place != places.end()) state.places.push_back(place->second);
        state.reserved = program_.annotations.manual[t];
        return state;
      });
      return ChooseAssignment(problem, program_.pricing());
    });
  }

  // The plan's shardings of `tensors`, without tensor `but`.
  Places Planned(absl::Span<const int> tensors, int but) const {
    Places places;
    for (const int t : tensors) {
      if (t != but) places.emplace(t, best_.plan.shardings[t]);
    }
    return places;
  }

  static std::vector<int> TensorsOf(const FlowOp& op) {
    std::vector<int> tensors(op.operands.begin(), op.operands.end());
    tensors.insert(tensors.end(), op.results.begin(), op.results.end());
    return tensors;
  }

  // Ops that need communication to get their operands from, or bring their results to, the plan's shardings;
  // most bytes first.
  std::vector<const FlowOp*> ContestedOps() {
    std::vector<std::pair<int64_t, const FlowOp*>> ops;
    for (const FlowOp& op : graph_.ops()) {
      if (!HasRule(op)) continue;
      const int64_t sent = Assign(op, Planned(TensorsOf(op), -1)).sent_bytes;
      if (sent > 0) ops.emplace_back(-sent, &op);
    }
    std::sort(ops.begin(), ops.end());
    std::vector<const FlowOp*> sorted;
    for (const auto& [sent, op] : ops) sorted.push_back(op);
    return sorted;
  }

  static const TensorFactors& FactorsOf(const FlowOp& op, size_t i) {
    return i < op.operands.size() ? op.rule->operands[i] : op.rule->results[i - op.operands.size()];
  }

  // The sharding that the op would choose for the tensor if it were free, those that each other tensor of the
  // op alone implies, and replicated.
  std::vector<Sharding> LikelyShardings(const FlowOp& op, size_t i) {
    const std::vector<int> tensors = TensorsOf(op);
    const int t = tensors[i];
    std::vector<Sharding> shardings = {Under(op, FactorsOf(op, i), Assign(op, Planned(tensors, t)))};
    for (const int other : tensors) {
      if (other != t)
        shardings.push_back(Under(op, FactorsOf(op, i), Assign(op, {{other, best_.plan.shardings[other]}})));
    }
    shardings.push_back(Sharding::Replicated(graph_.shape(t).rank()));
    return shardings;
  }

  // All shardings in which one or two dimensions are cut over axis lists that cut dimensions of the op's
  // tensors.
  std::vector<Sharding> AllShardings(const FlowOp& op, size_t i) {
    std::vector<AxisList> lists;
    for (const int t : TensorsOf(op)) {
      for (const AxisList& list : best_.plan.shardings[t].dims) {
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

  std::vector<Trial> TrialsOf(const FlowOp& op, Shardings shardings) {
    const std::vector<int> tensors = TensorsOf(op);
    std::vector<Trial> trials;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const int t = tensors[i];
      if (!graph_.shape(t).IsArray()) continue;
      for (const Sharding& sharding : (this->*shardings)(op, i)) {
        if (sharding.dims == best_.plan.shardings[t].dims) continue;
        if (MayPin(t)) trials.push_back({kComputed, t, sharding});
        if (i < op.operands.size()) AddSources(t, sharding, &trials);
      }
    }
    return trials;
  }

  // Adds trials that copy the tensor before its users, and likewise the largest operand of its producer, and
  // so on.
  void AddSources(int tensor, const Sharding& sharding, std::vector<Trial>* trials) {
    int t = tensor;
    Sharding wanted = sharding;
    for (int step = 0; step < kSteps; ++step) {
      if (users_[t].size() > 1) trials->push_back({kBeforeUsers, t, wanted});
      const FlowOp* op = producer_[t];
      if (op == nullptr || op->results.size() != 1) return;
      const Assignment& assignment = Assign(*op, {{t, wanted}});
      int largest = -1;
      for (size_t i = 0; i < op->operands.size(); ++i) {
        if (!graph_.shape(op->operands[i]).IsArray()) continue;
        if (largest < 0 ||
            graph_.shape(op->operands[i]).ByteSize() > graph_.shape(op->operands[largest]).ByteSize()) {
          largest = static_cast<int>(i);
        }
      }
      if (largest < 0) return;
      wanted = Under(*op, op->rule->operands[largest], assignment);
      t = op->operands[largest];
    }
  }

  const SearchProblem& problem_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  PricedPlan best_;
  Annotations annotations_;  // Those of the program, and the changes of the best plan.
  const int64_t max_plans_;
  std::vector<PricedPlan> improved_;
  std::vector<bool> fixed_;  // By tensor: whether the caller of the program sees it.
  std::vector<const FlowOp*> producer_;
  std::vector<std::vector<const FlowOp*>> users_;
  const int64_t first_step_ = program_.planner->steps();
  absl::flat_hash_set<int> pinned_;  // Tensors that this search annotated.
  int64_t plans_ = 0;                // Priced so far.
  int64_t trials_ = 0;
  // Trials made since the last change.
  absl::flat_hash_set<std::tuple<int, Kind, absl::InlinedVector<AxisList, 4>>> tried_;
};

}  // namespace

std::vector<PricedPlan> ChangeNeighbours(const SearchProblem& problem, const PricedPlan& from) {
  if (from.price.sent_bytes == 0) return {};
  return NeighbourSearcher(problem, from).Run();
}

}  // namespace toroid
