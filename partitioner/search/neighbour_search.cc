#include "partitioner/search/neighbour_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo/base/status.h"
#include "partitioner/propagation/flow_problem.h"

namespace toroid {
namespace {

class Search {
 public:
  Search(const NeighbourSearch& search, ShardingPlan* plan)
      : search_(search), program_(*search.program), graph_(*program_.graph), plan_(*plan) {}

  absl::Status Run() {
    // Every change begins a new round, over the ops that then disagree.
    bool changed = true;
    while (changed && programs_ < search_.max_programs) {
      ASSIGN_OR_RETURN(changed, Round());
    }
    return absl::OkStatus();
  }

 private:
  struct Trial {
    int tensor;
    Sharding sharding;
  };

  // True if a trial was taken.
  absl::StatusOr<bool> Round() {
    for (const FlowOp* op : ContestedOps()) {
      for (const Trial& trial : TrialsOf(*op)) {
        if (programs_ >= search_.max_programs) return false;
        if (!tried_.emplace(trial.tensor, trial.sharding.dims).second) continue;
        ASSIGN_OR_RETURN(const bool taken, Try(trial));
        if (taken) return true;
      }
    }
    return false;
  }

  absl::StatusOr<bool> Try(const Trial& trial) {
    std::optional<Annotation>& annotation = program_.annotations.tensor[trial.tensor];
    const std::optional<Annotation> before = annotation;
    annotation.emplace();
    annotation->sharding = trial.sharding;
    annotation->closed = ~uint64_t{0};
    ShardingPlan plan = ProposeShardings(program_);
    if (plan != plan_) {
      ++programs_;
      ASSIGN_OR_RETURN(const bool improves, search_.improves(plan));
      if (improves) {
        plan_ = std::move(plan);
        tried_.clear();
        return true;
      }
    }
    program_.annotations.tensor[trial.tensor] = before;
    return false;
  }

  // `alone`: only that tensor is where the plan has it (-1: all are); `free`: that one is anywhere.
  Assignment Assign(const FlowOp& op, int alone, int free) {
    const AssignmentProblem problem = ProblemOf(graph_, op, [&](int t, bool) {
      TensorState state;
      if (t != free && (alone < 0 || t == alone)) state.places.push_back(plan_[t]);
      state.reserved = program_.annotations.manual[t];
      return state;
    });
    return ChooseAssignment(problem, program_.planner.get(), program_.annotations.mesh);
  }

  // Those that cannot be computed where the plan has their operands and results; most bytes first.
  std::vector<const FlowOp*> ContestedOps() {
    std::vector<std::pair<int64_t, const FlowOp*>> ops;
    for (const FlowOp& op : graph_.ops()) {
      if (op.rule->factors.empty() || program_.annotations.boundaries.contains(op.instruction)) continue;
      const int64_t sent = Assign(op, -1, -1).sent_bytes;
      if (sent > 0) ops.emplace_back(-sent, &op);
    }
    std::sort(ops.begin(), ops.end());
    std::vector<const FlowOp*> sorted;
    for (const auto& [sent, op] : ops) sorted.push_back(op);
    return sorted;
  }

  std::vector<Trial> TrialsOf(const FlowOp& op) {
    std::vector<int> tensors(op.operands.begin(), op.operands.end());
    tensors.insert(tensors.end(), op.results.begin(), op.results.end());
    std::vector<Trial> trials;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const int t = tensors[i];
      if (search_.fixed[t] || program_.annotations.tensor[t].has_value() || !graph_.shape(t).IsArray()) continue;
      const TensorFactors& factors =
          i < op.operands.size() ? op.rule->operands[i] : op.rule->results[i - op.operands.size()];
      const auto add = [&](const Assignment& assignment) {
        Sharding sharding =
            ShardingUnder(program_.annotations.mesh, *op.rule, factors, assignment.factor_axes);
        if (sharding.dims != plan_[t].dims) trials.push_back({t, std::move(sharding)});
      };
      add(Assign(op, -1, t));
      for (const int other : tensors) {
        if (other != t) add(Assign(op, other, t));
      }
      if (plan_[t].DimAxes() != 0) trials.push_back({t, Sharding::Replicated(graph_.shape(t).rank())});
    }
    return trials;
  }

  const NeighbourSearch& search_;
  PreparedProgram& program_;
  const FlowGraph& graph_;
  ShardingPlan& plan_;
  int64_t programs_ = 0;
  absl::flat_hash_set<std::pair<int, absl::InlinedVector<AxisList, 4>>> tried_;  // Since the last change.
};

}  // namespace

absl::Status SearchNeighbours(const NeighbourSearch& search, ShardingPlan* plan) {
  return Search(search, plan).Run();
}

}  // namespace toroid
