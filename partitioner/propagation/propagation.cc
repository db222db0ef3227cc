#include "partitioner/propagation/propagation.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "partitioner/propagation/crossing_values.h"
#include "partitioner/propagation/flow_problem.h"
#include "partitioner/propagation/free_values.h"

namespace toroid {
namespace {

// Stages of the fixed point: first only ops for which MovesOnly holds; then all ops, but broadcasts only from
// result to operand; then all ops in both directions.
enum Stage { kMovesOnly, kNoForwardBroadcast, kEverything, kNumStages };

bool Flows(const Factor& factor) {
  return factor.kind != FactorKind::kBlocked && factor.kind != FactorKind::kExchanged && !factor.holds_back;
}

class Propagator {
 public:
  Propagator(const FlowGraph& graph, const Annotations& annotations, const std::vector<bool>& even,
             const Pricing& pricing)
      : graph_(graph), mesh_(annotations.mesh), pricing_(pricing) {
    const int n = graph.num_tensors();
    state_.resize(n);
    for (int t = 0; t < n; ++t) {
      Tensor& tensor = state_[t];
      tensor.sharding = Sharding::Replicated(graph.shape(t).rank());
      tensor.blocked = t < static_cast<int>(annotations.manual.size()) ? annotations.manual[t] : 0;
      tensor.even = !even.empty() && even[t];
      if (!annotations.tensor[t]) continue;
      const Annotation& annotation = *annotations.tensor[t];
      tensor.closed = annotation.closed;
      tensor.blocked |= annotation.replicated;
      if (annotation.priorities.empty()) {
        tensor.sharding.dims = annotation.sharding.dims;
        continue;
      }
      // Dimensions of a later priority are cut when the earlier ones have settled (Run).
      for (size_t d = 0; d < annotation.sharding.dims.size(); ++d) {
        const int priority = annotation.priorities[d];
        if (priority == 0) {
          tensor.sharding.dims[d] = annotation.sharding.dims[d];
        } else {
          waiting_.push_back({priority, t, static_cast<int>(d), annotation.sharding.dims[d]});
        }
      }
    }
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Waiting& a, const Waiting& b) { return a.priority < b.priority; });
    FindFree();
    AddGroups();
    AddBoundaries(annotations);
    IndexOps();
  }

  std::vector<Sharding> Run() {
    size_t next = 0;
    while (true) {
      Settle();
      if (next == waiting_.size()) break;
      for (const int priority = waiting_[next].priority;
           next < waiting_.size() && waiting_[next].priority == priority; ++next) {
        const Waiting& w = waiting_[next];
        Extend(w.tensor, w.dim, w.axes, /*given=*/true);
      }
    }
    Align();
    std::vector<Sharding> shardings;
    shardings.reserve(state_.size());
    for (Tensor& tensor : state_) shardings.push_back(std::move(tensor.sharding));
    return shardings;
  }

 private:
  struct Tensor {
    Sharding sharding;
    uint64_t closed = 0;
    AxisSet blocked = 0;
    bool even = false;
    bool free = false;
  };
  struct Waiting {
    int priority;
    int tensor;
    int dim;
    AxisList axes;
  };

  int num_ops() const {
    return static_cast<int>(graph_.ops().size() + group_ops_.size() + boundary_ops_.size());
  }
  // Ops are numbered: those of the flow graph, then those of sharding groups, then those of manual
  // boundaries.
  const FlowOp& Op(int i) const {
    const int flow = static_cast<int>(graph_.ops().size());
    if (i < flow) return graph_.ops()[i];
    const int group = i - flow, groups = static_cast<int>(group_ops_.size());
    return group < groups ? group_ops_[group] : boundary_ops_[group - groups];
  }
  // The value that crosses at a manual boundary; null for other ops.
  const CrossingValue* CrossingOf(int i) const {
    const int boundary = i - static_cast<int>(graph_.ops().size() + group_ops_.size());
    return boundary < 0 ? nullptr : &crossings_[boundary];
  }

  // Marks free values (free_values.h), except those with closed dimensions. One free value often serves
  // unrelated arrays of its shape, so it takes shardings from them and passes none on.
  void FindFree() {
    for (const FlowOp& op : graph_.ops()) {
      if (op.instruction == nullptr || op.results.size() != 1) continue;
      Tensor& result = state_[op.results[0]];
      if (result.closed != 0) continue;
      result.free = IsMadeAnywhere(
          graph_, op, [&](int t) { return state_[t].free; },
          [&](int t) { return graph_.shape(t).rank() == 0; });
    }
  }

  // Adds a pointwise op over the members of each sharding group, through which their shardings flow.
  void AddGroups() {
    group_rules_.reserve(graph_.groups().size());
    for (const std::vector<int>& group : graph_.groups()) {
      if (group.size() < 2) continue;
      group_rules_.push_back(
          PointwiseRule(graph_.shape(group[0]).dims(), static_cast<int>(group.size()) - 1));
      FlowOp op;
      op.rule = &group_rules_.back();
      op.operands.assign(group.begin(), group.end() - 1);
      op.results.push_back(group.back());
      group_ops_.push_back(std::move(op));
    }
  }

  // Adds an op for each value that enters or leaves a manual region, through which the free axes flow
  // (StepBoundary).
  void AddBoundaries(const Annotations& annotations) {
    crossings_ = CrossingValues(graph_, annotations);
    for (const CrossingValue& crossing : crossings_) {
      FlowOp op;
      op.rule = &no_factors_;
      op.operands.push_back(crossing.global);
      op.results.push_back(crossing.local);
      boundary_ops_.push_back(std::move(op));
    }
  }

  // Gives all open members of a sharding group one sharding: that of the first member that is closed and cut,
  // or else of the first member.
  void Align() {
    const auto fixed = [&](int t) { return state_[t].closed != 0 && state_[t].sharding.DimAxes() != 0; };
    for (const FlowOp& op : group_ops_) {
      std::vector<int> members(op.operands.begin(), op.operands.end());
      members.push_back(op.results[0]);
      const auto first = std::find_if(members.begin(), members.end(), fixed);
      const Tensor& model = state_[first == members.end() ? members[0] : *first];
      const absl::InlinedVector<AxisList, 4> dims = model.sharding.dims;
      for (const int t : members) {
        if (state_[t].closed == 0 && (model.sharding.DimAxes() & state_[t].blocked) == 0) {
          state_[t].sharding.dims = dims;
        }
      }
    }
  }

  // Fills `touching_` with the ops that touch each tensor; those of tensor t begin at begin_[t].
  void IndexOps() {
    begin_.assign(state_.size() + 1, 0);
    const auto each = [&](const auto& visit) {
      for (int i = 0; i < num_ops(); ++i) {
        for (const int t : Op(i).operands) visit(t, i);
        for (const int t : Op(i).results) visit(t, i);
      }
    };
    each([&](int t, int) { ++begin_[t + 1]; });
    for (size_t t = 0; t < state_.size(); ++t) begin_[t + 1] += begin_[t];
    touching_.resize(begin_.back());
    std::vector<int> next(begin_.begin(), begin_.end() - 1);
    each([&](int t, int op) { touching_[next[t]++] = op; });
    queued_.assign(num_ops(), false);
    contested_.assign(num_ops(), false);
    decided_.assign(num_ops(), false);
  }

  static bool MovesOnly(const FlowOp& op) {
    if (op.instruction == nullptr) return true;
    switch (op.instruction->opcode()) {
      case Opcode::kReshape:
      case Opcode::kTranspose:
      case Opcode::kCustomCall:
        return true;
      default:
        return IsElementwise(op.instruction->opcode());
    }
  }

  void Settle() {
    for (int stage = 0; stage < kNumStages; ++stage) {
      stage_ = static_cast<Stage>(stage);
      for (int i = 0; i < num_ops(); ++i) Enqueue(i);
      Drain();
    }
    while (DecideConflicts() || TakeLate()) {
    }
  }

  void Enqueue(int op) {
    if (queued_[op] || (stage_ == kMovesOnly && !MovesOnly(Op(op)))) return;
    queued_[op] = true;
    queue_.push_back(op);
  }

  void Drain() {
    for (size_t head = 0; head < queue_.size(); ++head) {
      const int op = queue_[head];
      queued_[op] = false;
      if (const int64_t bytes = BytesToWaitWith(op); bytes > 0) {
        late_.push({bytes, op});
      } else {
        Step(op);
      }
    }
    queue_.clear();
  }

  // Steps the waiting contraction with the most bytes cut. Contractions of which only smaller tensors are cut
  // wait until nothing else changes: the larger tensors' shardings may arrive later, through more ops, and
  // should decide. False if none waits.
  bool TakeLate() {
    if (late_.empty()) return false;
    const int op = late_.top().op;
    late_.pop();
    Step(op);
    Drain();
    return true;
  }

  // Bytes of the largest cut tensor of a contraction if a larger tensor is not cut yet; 0 if the op need not
  // wait.
  int64_t BytesToWaitWith(int index) {
    const FlowOp& op = Op(index);
    if (op.rule->flops_per_point == 0) return 0;
    int64_t cut = 0, open = 0;
    ForEachTensor(op, [&](int t, const TensorFactors&, bool) {
      if (state_[t].free) return;
      int64_t& bytes = state_[t].sharding.DimAxes() != 0 ? cut : open;
      bytes = std::max(bytes, graph_.shape(t).ByteSize());
    });
    return open > cut ? cut : 0;
  }

  // Cuts dimension `dim` over as many of `axes` as it may, in order. Changes nothing unless the dimension's
  // present axes are a prefix of `axes`. `given`: the module states these axes, so that the dimension may be
  // closed and tiles empty.
  void Extend(int t, int dim, const AxisList& axes, bool given = false) {
    Tensor& tensor = state_[t];
    AxisList& own = tensor.sharding.dims[dim];
    if (axes.size() <= own.size() || !own.IsPrefixOf(axes)) return;
    if (!given && tensor.closed >> dim & 1) return;
    const int64_t size = graph_.shape(t).dim(dim);
    AxisSet used = tensor.blocked | tensor.sharding.DimAxes();
    AxisList extended = own;
    int64_t tiles = mesh_.Product(own);
    for (int i = own.size(); i < axes.size(); ++i) {
      tiles *= mesh_.size(axes[i]);
      if ((used >> axes[i] & 1) || (!given && tiles > size)) break;
      extended.push_back(axes[i]);
    }
    // A shorter list of axes that divides evenly would give tiles that do not nest with the neighbours', so
    // the dimension stays as it is.
    if (tensor.even && !given && size % mesh_.Product(extended) != 0) return;
    if (extended.size() == own.size()) return;
    own = extended;
    for (int i = begin_[t]; i < begin_[t + 1]; ++i) Enqueue(touching_[i]);
  }

  template <typename Visit>
  void ForEachTensor(const FlowOp& op, const Visit& visit) {
    if (op.rule == &no_factors_) return;
    for (size_t i = 0; i < op.operands.size(); ++i) visit(op.operands[i], op.rule->operands[i], false);
    for (size_t i = 0; i < op.results.size(); ++i) visit(op.results[i], op.rule->results[i], true);
  }

  // Cuts both sides of a manual boundary over the free axes of either; outside they follow the manual axes.
  void StepBoundary(const CrossingValue& crossing) {
    for (size_t d = 0; d < crossing.manual.size(); ++d) {
      const AxisList& global = state_[crossing.global].sharding.dims[d];
      const AxisList free = global.Only(~crossing.manual_axes);
      const int64_t size = graph_.shape(crossing.local).dim(static_cast<int>(d));
      Extend(crossing.local, static_cast<int>(d), crossing.Matching(mesh_, static_cast<int>(d), size, free));
      AxisList outside = crossing.manual[d];
      outside.Append(
          crossing.Matching(mesh_, static_cast<int>(d), size, state_[crossing.local].sharding.dims[d]));
      Extend(crossing.global, static_cast<int>(d), outside);
    }
  }

  // Takes for each factor the axes on which the op's tensors agree, and applies them to all its tensors.
  // Notes the op as contested if tensors disagree or two factors want one axis.
  void Step(int index) {
    if (const CrossingValue* crossing = CrossingOf(index)) return StepBoundary(*crossing);
    const FlowOp& op = Op(index);
    const ShardingRule& rule = *op.rule;
    const size_t num_factors = rule.factors.size();
    if (num_factors == 0) return;
    best_.assign(num_factors, AxisList());
    all_.assign(num_factors, 0);
    bool any = false;
    bool conflict = false;
    const bool hold_broadcast =
        stage_ != kEverything && op.instruction != nullptr && op.instruction->opcode() == Opcode::kBroadcast;
    ForEachTensor(op, [&](int t, const TensorFactors& tensor, bool is_result) {
      if ((hold_broadcast && !is_result) || !(is_result ? op.backward : op.forward)) return;
      if (state_[t].free) return;
      const Sharding& sharding = state_[t].sharding;
      for (size_t d = 0; d < tensor.size(); ++d) {
        if (sharding.dims[d].empty()) continue;
        for (int i = 0; i < tensor[d].size; ++i) {
          const int f = tensor[d].factor[i];
          if (!Flows(rule.factors[f])) continue;
          const AxisList axes =
              rule.Admissible(mesh_, f, FactorAxes(mesh_, rule, tensor[d], i, sharding.dims[d]));
          if (axes.empty()) continue;
          any = true;
          all_[f] |= axes.Set();
          AxisList& best = best_[f];
          if (best.IsPrefixOf(axes)) {
            best = axes;
          } else if (!axes.IsPrefixOf(best)) {
            conflict = true;
            int common = 0;
            while (common < best.size() && common < axes.size() && best[common] == axes[common]) ++common;
            best = best.Prefix(common);
          }
        }
      }
    });
    if (!any) return;
    AxisSet once = 0, twice = 0;
    for (size_t f = 0; f < num_factors; ++f) {
      twice |= once & all_[f];
      once |= all_[f];
    }
    if (twice != 0) {
      conflict = true;
      for (AxisList& best : best_) {
        for (int i = 0; i < best.size(); ++i) {
          if (twice >> best[i] & 1) {
            best = best.Prefix(i);
            break;
          }
        }
      }
    }
    if (conflict && !decided_[index] && !contested_[index]) {
      contested_[index] = true;
      contested_ops_.push_back(index);
    }
    Apply(op, best_);
  }

  // Extends the shardings of the op's tensors to `factor_axes`.
  void Apply(const FlowOp& op, absl::Span<const AxisList> factor_axes) {
    const ShardingRule& rule = *op.rule;
    const bool hold_broadcast =
        stage_ != kEverything && op.instruction != nullptr && op.instruction->opcode() == Opcode::kBroadcast;
    ForEachTensor(op, [&](int t, const TensorFactors& tensor, bool is_result) {
      if ((hold_broadcast && is_result) || !(is_result ? op.forward : op.backward)) return;
      for (size_t d = 0; d < tensor.size(); ++d) {
        if (tensor[d].size == 0) continue;
        const AxisList axes = DimAxes(mesh_, rule, tensor[d], factor_axes);
        if (axes.size() > state_[t].sharding.dims[d].size()) Extend(t, static_cast<int>(d), axes);
      }
    });
  }

  // Decides the contested ops by cost, the op with the most bytes first. False if there were none.
  bool DecideConflicts() {
    std::vector<std::pair<int64_t, int>> order;
    for (const int i : std::exchange(contested_ops_, {})) {
      int64_t bytes = 0;
      ForEachTensor(Op(i), [&](int t, const TensorFactors&, bool) { bytes += graph_.shape(t).ByteSize(); });
      order.emplace_back(-bytes, i);
    }
    std::sort(order.begin(), order.end());
    stage_ = kEverything;
    for (const auto& [bytes, index] : order) {
      decided_[index] = true;
      contested_[index] = false;
      const FlowOp& op = Op(index);
      if (!HasOpenTensor(op)) continue;
      Apply(op, Decide(op).factor_axes);
      Drain();
    }
    return !order.empty();
  }

  bool HasOpenTensor(const FlowOp& op) {
    bool open = false;
    ForEachTensor(op, [&](int t, const TensorFactors& tensor, bool) {
      for (size_t d = 0; d < tensor.size(); ++d) {
        open |=
            !(state_[t].closed >> d & 1) && state_[t].sharding.dims[d].empty() && graph_.shape(t).dim(d) > 1;
      }
    });
    return open;
  }

  Assignment Decide(const FlowOp& op) {
    const AssignmentProblem problem = ProblemOf(graph_, op, [&](int t, bool is_result) {
      TensorState state;
      state.free = state_[t].free;
      state.open = ~state_[t].closed;
      const Sharding& sharding = state_[t].sharding;
      // A tensor that is not cut yet may take any sharding, unless it is a result with closed dimensions.
      if (sharding.DimAxes() != 0 || (state_[t].closed != 0 && is_result)) state.places.push_back(sharding);
      return state;
    });
    return ChooseAssignment(problem, pricing_);
  }

  const FlowGraph& graph_;
  const Mesh& mesh_;
  const Pricing pricing_;
  std::vector<ShardingRule> group_rules_;
  std::vector<FlowOp> group_ops_;
  ShardingRule no_factors_;
  std::vector<CrossingValue> crossings_;
  std::vector<FlowOp> boundary_ops_;
  std::vector<Tensor> state_;
  std::vector<Waiting> waiting_;
  std::vector<int> begin_, touching_;
  std::vector<int> queue_;
  // Ordered so that the queue's top has the most bytes and, among equals, the lowest op number.
  struct Late {
    int64_t bytes;  // BytesToWaitWith.
    int op;
    bool operator<(const Late& other) const { return std::tie(bytes, other.op) < std::tie(other.bytes, op); }
  };
  std::priority_queue<Late> late_;
  std::vector<bool> queued_, contested_, decided_;
  std::vector<int> contested_ops_;  // Contested ops that are not decided yet.
  Stage stage_ = kMovesOnly;
  // Scratch arrays of Step, by factor: the axes that all agree on, and the axes that any tensor wants.
  absl::InlinedVector<AxisList, 8> best_;
  absl::InlinedVector<AxisSet, 8> all_;
};

}  // namespace

std::vector<Sharding> PropagateShardings(const FlowGraph& graph, const Annotations& annotations,
                                         const std::vector<bool>& even, const Pricing& pricing) {
  return Propagator(graph, annotations, even, pricing).Run();
}

}  // namespace toroid
