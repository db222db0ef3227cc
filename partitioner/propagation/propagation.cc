#include "partitioner/propagation/propagation.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>
#include <utility>

#include "partitioner/propagation/growing_shardings.h"
#include "partitioner/propagation/manual_regions.h"

namespace toroid {
namespace {

// Stages of the fixed point: first only ops for which MovesOnly holds; then all ops, but broadcasts only from
// result to operand; then all ops in both directions.
enum Stage { kMovesOnly, kNoForwardBroadcast, kEverything, kNumStages };

bool MovesOnly(const FlowOp& op) {
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

// The ops through which propagation spreads shardings, numbered: those of the flow graph, then a pointwise op
// over the members of each sharding group, then an op for each value that enters or leaves a manual region.
class PropagationOps {
 public:
  // Keeps a reference to `graph`.
  PropagationOps(const FlowGraph& graph, const Annotations& annotations)
      : graph_(graph), crossings_(CrossingValues(graph, annotations)) {
    for (const std::vector<int>& group : graph.groups()) {
      if (group.size() < 2) continue;
      const int operands = static_cast<int>(group.size()) - 1;
      group_rules_.push_back(PointwiseRule(graph.shape(group[0]).dims(), operands));
      groups_.push_back({nullptr, &group_rules_.back(), {group.begin(), group.end() - 1}, {group.back()}});
    }
    for (const CrossingValue& crossing : crossings_) {
      boundaries_.push_back({nullptr, &no_factors_, {crossing.global}, {crossing.local}});
    }
    touching_.resize(graph.num_tensors());
    for (int i = 0; i < size(); ++i) {
      for (const int t : TensorsOf((*this)[i])) touching_[t].push_back(i);
    }
  }
  PropagationOps(const PropagationOps&) = delete;

  int size() const { return num_flow_ops() + static_cast<int>(groups_.size() + boundaries_.size()); }
  const FlowOp& operator[](int i) const {
    if (i < num_flow_ops()) return graph_.ops()[i];
    const int group = i - num_flow_ops(), groups = static_cast<int>(groups_.size());
    return group < groups ? groups_[group] : boundaries_[group - groups];
  }
  // The value that crosses at a manual boundary, whose op has no factors; null for other ops.
  const CrossingValue* CrossingOf(int i) const {
    const int boundary = i - num_flow_ops() - static_cast<int>(groups_.size());
    return boundary < 0 ? nullptr : &crossings_[boundary];
  }
  // The ops of sharding groups. Each has the members but the last as operands, and the last as its result.
  const std::vector<FlowOp>& groups() const { return groups_; }
  // The ops with this operand or result.
  absl::Span<const int> Touching(int tensor) const { return touching_[tensor]; }

 private:
  int num_flow_ops() const { return static_cast<int>(graph_.ops().size()); }

  const FlowGraph& graph_;
  const std::vector<CrossingValue> crossings_;
  std::deque<ShardingRule> group_rules_;
  const ShardingRule no_factors_;
  std::vector<FlowOp> groups_, boundaries_;
  std::vector<absl::InlinedVector<int, 6>> touching_;  // By tensor.
};

class Propagator {
 public:
  Propagator(const FlowGraph& graph, const Annotations& annotations, const std::vector<bool>& even,
             const Pricing& pricing, GrowthLog* log)
      : graph_(graph),
        mesh_(annotations.mesh),
        pricing_(pricing),
        log_(log),
        ops_(graph, annotations),
        state_(graph, annotations, even),
        queued_(ops_.size(), false),
        contested_(ops_.size(), false),
        decided_(ops_.size(), false) {}

  std::vector<Sharding> Run() {
    Settle();
    while (const auto grown = state_.ExtendNextPriority()) {
      for (const int t : *grown) EnqueueTouching(t);
      Settle();
    }
    for (const FlowOp& group : ops_.groups()) NoteAligned(group, state_.Align(group));
    return std::move(state_).Take();
  }

 private:
  void Settle() {
    for (int stage = 0; stage < kNumStages; ++stage) {
      stage_ = static_cast<Stage>(stage);
      for (int i = 0; i < ops_.size(); ++i) Enqueue(i);
      Drain();
    }
    while (DecideConflicts() || TakeLate()) {
    }
  }

  void Enqueue(int op) {
    if (queued_[op] || (stage_ == kMovesOnly && !MovesOnly(ops_[op]))) return;
    queued_[op] = true;
    queue_.push_back(op);
  }

  void EnqueueTouching(int tensor) {
    for (const int op : ops_.Touching(tensor)) Enqueue(op);
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
    const FlowOp& op = ops_[index];
    if (op.rule->flops_per_point == 0) return 0;
    int64_t cut = 0, open = 0;
    ForEachTensor(op, [&](int t, const TensorFactors&, bool) {
      if (state_[t].free) return;
      int64_t& bytes = state_[t].sharding.DimAxes() != 0 ? cut : open;
      bytes = std::max(bytes, graph_.shape(t).ByteSize());
    });
    return open > cut ? cut : 0;
  }

  // `source(axis)`: the growth to note for an axis that the tensor gets.
  template <typename Source>
  void Extend(int tensor, int dim, const AxisList& axes, const Source& source) {
    const int before = state_[tensor].sharding.dims[dim].size();
    if (!state_.Extend(tensor, dim, axes)) return;
    EnqueueTouching(tensor);
    if (log_ == nullptr) return;
    const AxisList& grown = state_[tensor].sharding.dims[dim];
    for (int i = before; i < grown.size(); ++i) log_->try_emplace({tensor, grown[i]}, source(grown[i]));
  }

  void NoteAligned(const FlowOp& group, int first) {
    if (log_ == nullptr) return;
    const Sharding& model = state_[first].sharding;
    for (const int t : TensorsOf(group)) {
      for (size_t d = 0; t != first && d < model.dims.size(); ++d) {
        for (int i = 0; i < model.dims[d].size(); ++i) {
          log_->try_emplace({t, model.dims[d][i]}, Growth{first, static_cast<int>(d), nullptr});
        }
      }
    }
  }

  // Cuts both sides of a manual boundary over the free axes of either; outside they follow the manual axes.
  void StepBoundary(const CrossingValue& crossing) {
    for (size_t d = 0; d < crossing.manual.size(); ++d) {
      const AxisList& global = state_[crossing.global].sharding.dims[d];
      const AxisList free = global.Only(~crossing.manual_axes);
      const int64_t size = graph_.shape(crossing.local).dim(static_cast<int>(d));
      const int dim = static_cast<int>(d);
      Extend(crossing.local, dim, crossing.Matching(mesh_, dim, size, free), [&](int) {
        return Growth{crossing.global, dim, nullptr};
      });
      AxisList outside = crossing.manual[d];
      outside.Append(crossing.Matching(mesh_, dim, size, state_[crossing.local].sharding.dims[d]));
      Extend(crossing.global, dim, outside, [&](int) { return Growth{crossing.local, dim, nullptr}; });
    }
  }

  // Whether `op` is a broadcast in a stage in which these pass shardings only from result to operand.
  bool HoldsForward(const FlowOp& op) const {
    return stage_ != kEverything && op.instruction != nullptr &&
           op.instruction->opcode() == Opcode::kBroadcast;
  }

  // Applies the axes on which the op's tensors agree to all its tensors. Notes the op as contested if there
  // is a conflict.
  void Step(int index) {
    if (const CrossingValue* crossing = ops_.CrossingOf(index)) return StepBoundary(*crossing);
    const FlowOp& op = ops_[index];
    const std::optional<AgreedAxes> agreed = AgreeOn(op, mesh_, state_, HoldsForward(op));
    if (!agreed) return;
    if (agreed->conflict && !decided_[index] && !contested_[index]) {
      contested_[index] = true;
      contested_ops_.push_back(index);
    }
    Apply(op, agreed->factor_axes);
  }

  // Extends the shardings of the op's tensors to `factor_axes`.
  void Apply(const FlowOp& op, absl::Span<const AxisList> factor_axes) {
    const ShardingRule& rule = *op.rule;
    const bool holds_forward = HoldsForward(op);
    const std::vector<Holder> holders = log_ == nullptr ? std::vector<Holder>() : HoldersOf(op);
    ForEachTensor(op, [&](int t, const TensorFactors& tensor, bool is_result) {
      if ((holds_forward && is_result) || !(is_result ? op.forward : op.backward)) return;
      for (size_t d = 0; d < tensor.size(); ++d) {
        if (tensor[d].size == 0) continue;
        const AxisList axes = DimAxes(mesh_, rule, tensor[d], factor_axes);
        if (axes.size() <= state_[t].sharding.dims[d].size()) continue;
        Extend(t, static_cast<int>(d), axes,
               [&](int axis) { return GrowthThrough(op, t, tensor[d], axis, holders); });
      }
    });
  }

  // A tensor of an op that is cut over an axis before the op's step, in a dimension with these factors.
  struct Holder {
    int tensor, dim, axis;
    DimFactors factors;
  };
  std::vector<Holder> HoldersOf(const FlowOp& op) const {
    std::vector<Holder> holders;
    ForEachTensor(op, [&](int t, const TensorFactors& tensor, bool) {
      if (state_[t].free) return;
      for (size_t d = 0; d < tensor.size(); ++d) {
        const AxisList& axes = state_[t].sharding.dims[d];
        for (int i = 0; i < axes.size(); ++i) holders.push_back({t, static_cast<int>(d), axes[i], tensor[d]});
      }
    });
    return holders;
  }

  static Growth GrowthThrough(const FlowOp& op, int tensor, const DimFactors& factors, int axis,
                              absl::Span<const Holder> holders) {
    for (const Holder& holder : holders) {
      if (holder.tensor != tensor && holder.axis == axis && SharesFactor(holder.factors, factors))
        return {holder.tensor, holder.dim, op.instruction};
    }
    return {-1, 0, op.instruction};
  }

  // Decides the contested ops by cost, the op with the most bytes first. False if there were none.
  bool DecideConflicts() {
    std::vector<std::pair<int64_t, int>> order;
    for (const int i : std::exchange(contested_ops_, {})) {
      int64_t bytes = 0;
      ForEachTensor(ops_[i], [&](int t, const TensorFactors&, bool) { bytes += graph_.shape(t).ByteSize(); });
      order.emplace_back(-bytes, i);
    }
    std::sort(order.begin(), order.end());
    stage_ = kEverything;
    for (const auto& [bytes, index] : order) {
      decided_[index] = true;
      contested_[index] = false;
      const FlowOp& op = ops_[index];
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
    const AssignmentProblem problem = ProblemOf(graph_, op, [&](int t, bool is_result, TensorView* view) {
      view->free = state_[t].free;
      view->open = ~state_[t].closed;
      const Sharding& sharding = state_[t].sharding;
      // A tensor that is not cut yet may take any sharding, unless it is a result with closed dimensions.
      if (sharding.DimAxes() != 0 || (state_[t].closed != 0 && is_result)) view->places.push_back(sharding);
    });
    return ChooseAssignment(problem, pricing_);
  }

  const FlowGraph& graph_;
  const Mesh& mesh_;
  const Pricing pricing_;
  GrowthLog* const log_;
  const PropagationOps ops_;
  GrowingShardings state_;
  std::vector<int> queue_;
  // Ordered so that the queue's top has the most bytes and, among equals, the lowest op number.
  struct Late {
    int64_t bytes;  // BytesToWaitWith.
    int op;
    bool operator<(const Late& other) const { return std::tie(bytes, other.op) < std::tie(other.bytes, op); }
  };
  std::priority_queue<Late> late_;
  std::vector<bool> queued_, contested_, decided_;  // By op.
  std::vector<int> contested_ops_;                  // Contested ops that are not decided yet.
  Stage stage_ = kMovesOnly;
};

}  // namespace

std::vector<Sharding> PropagateShardings(const FlowGraph& graph, const Annotations& annotations,
                                         const std::vector<bool>& even, const Pricing& pricing,
                                         GrowthLog* log) {
  return Propagator(graph, annotations, even, pricing, log).Run();
}

}  // namespace toroid
