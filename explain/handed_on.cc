#include "explain/handed_on.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/custom_call_targets.h"

namespace toroid {
namespace {

bool Holds(const AxisList& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

bool IsLikeAnIdentity(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kOptimizationBarrier:
      return true;
    case Opcode::kDynamicSlice: {
      // One at a constant place is a slice of a single row (../prepare/window_passes.cc).
      const auto starts = op.operands().subspan(1);
      return !std::all_of(starts.begin(), starts.end(),
                          [](const Instruction* start) { return start->opcode() == Opcode::kConstant; });
    }
    default:
      return IsElementwise(op.opcode()) || IsShardingAnnotation(op);
  }
}

class Replay {
 public:
  Replay(const PreparedProgram& program, const ShardingPlan& plan)
      : program_(program),
        ops_(program.graph->ops()),
        plan_(plan),
        touching_(program.graph->num_tensors()),
        uses_(program.graph->num_tensors(), 0),
        is_output_(program.graph->num_tensors(), false) {
    for (const int t : program.graph->outputs()) is_output_[t] = true;
    Order();
    for (size_t i = 0; i < ops_.size(); ++i) {
      for (const int t : ops_[i].operands) ++uses_[t];
      for (const int t : TensorsOf(ops_[i])) {
        if (touching_[t].empty() || touching_[t].back() != static_cast<int>(i))
          touching_[t].push_back(static_cast<int>(i));
      }
    }
  }

  GrowthLog Run() {
    for (const Step step : {kAnnotations, kBackLikeIdentities, kLikeIdentities, kForward, kBackward, kAll})
      Sweep(step);
    return std::move(log_);
  }

 private:
  enum Step { kAnnotations, kBackLikeIdentities, kLikeIdentities, kForward, kBackward, kAll };
  struct Directions {
    bool forward = false, backward = false;
  };

  Directions DirectionsOf(const FlowOp& op, Step step) const {
    const bool is_edge = op.instruction == nullptr;
    const bool is_result = is_edge && is_output_[op.results[0]];
    const bool is_annotation = !is_edge && IsShardingAnnotation(*op.instruction);
    if (step == kAnnotations) return {.forward = false, .backward = is_result || is_annotation};
    if (step == kAll) return {.forward = true, .backward = true};
    if (is_edge) return {.forward = !is_result, .backward = true};
    const bool spreads = op.instruction->opcode() == Opcode::kBroadcast;
    const bool is_identity = IsLikeAnIdentity(*op.instruction);
    switch (step) {
      case kBackLikeIdentities:
        return {.forward = false, .backward = is_annotation || (is_identity && AreOperandsUsedOnce(op))};
      case kLikeIdentities:
        return {.forward = is_identity, .backward = is_identity};
      default:
        return {.forward = !spreads, .backward = is_identity || step == kBackward};
    }
  }

  // Bodies come where they are called; an edge comes after what it copies.
  void Order() {
    const FlowGraph& graph = *program_.graph;
    absl::flat_hash_map<const Instruction*, int> place;
    const auto visit = [&](const auto& self, const Computation& computation) -> void {
      for (const auto& instruction : computation.instructions()) {
        for (const Computation* called : instruction->called()) {
          if (graph.Reached(*called)) self(self, *called);
        }
        place.try_emplace(instruction.get(), static_cast<int>(place.size()));
      }
    };
    visit(visit, *program_.flat->entry());
    std::vector<int> made_at(graph.num_tensors(), -1), key(ops_.size(), -1);
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].instruction == nullptr) continue;
      const auto at = place.find(ops_[i].instruction);
      if (at != place.end()) key[i] = at->second;
      for (const int t : ops_[i].results) made_at[t] = key[i];
    }
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].instruction == nullptr) key[i] = made_at[ops_[i].operands[0]];
    }
    order_.resize(ops_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return key[a] < key[b]; });
  }

  bool AreOperandsUsedOnce(const FlowOp& op) const {
    return std::all_of(op.operands.begin(), op.operands.end(), [&](int t) { return uses_[t] == 1; });
  }

  bool Has(int tensor, int dim, int axis) const {
    const auto& annotation = program_.annotations.tensor[tensor];
    if (annotation && dim < static_cast<int>(annotation->sharding.dims.size()) &&
        Holds(annotation->sharding.dims[dim], axis)) {
      return true;
    }
    return log_.contains({tensor, axis});
  }

  void Sweep(Step step) {
    std::vector<int> stack;  // The next op last.
    std::vector<bool> is_waiting(ops_.size(), true);
    stack.assign(order_.rbegin(), order_.rend());
    while (!stack.empty()) {
      const int number = stack.back();
      stack.pop_back();
      is_waiting[number] = false;
      const Directions directions = DirectionsOf(ops_[number], step);
      if (!directions.forward && !directions.backward) continue;
      std::vector<int> changed;
      HandOn(ops_[number], directions, &changed);
      for (const int t : changed) {
        for (const int next : touching_[t]) {
          if (is_waiting[next] || next == number) continue;
          is_waiting[next] = true;
          stack.push_back(next);
        }
      }
    }
  }

  // An axis in a dimension of a tensor of an op.
  struct Source {
    int tensor, dim, axis;
    const DimFactors* factors;
    bool is_result;
  };

  // The axes that tensors of the op have. Of operands, and of results, the first one with an axis in the same factors stands
  // for all.
  std::vector<Source> SourcesOf(const FlowOp& op) const {
    std::vector<Source> sources;
    ForEachTensor(op, [&](int t, const TensorFactors& factors, bool is_result) {
      for (size_t d = 0; d < factors.size() && d < plan_[t].dims.size(); ++d) {
        for (const int axis : plan_[t].dims[d]) {
          const auto is_known = [&](const Source& other) {
            return other.axis == axis && other.is_result == is_result &&
                   std::equal(other.factors->factor, other.factors->factor + other.factors->size,
                              factors[d].factor, factors[d].factor + factors[d].size);
          };
          if (!Has(t, static_cast<int>(d), axis) || std::any_of(sources.begin(), sources.end(), is_known))
            continue;
          sources.push_back({t, static_cast<int>(d), axis, &factors[d], is_result});
        }
      }
    });
    return sources;
  }

  // Hands the axes of the op's tensors on to those that lack them.
  void HandOn(const FlowOp& op, Directions directions, std::vector<int>* changed) {
    // Forward also from operand to operand, and backward from result to result, if both directions are allowed.
    const bool both = directions.forward && directions.backward;
    for (const Source& from : SourcesOf(op)) {
      ForEachTensor(op, [&](int t, const TensorFactors& factors, bool is_result) {
        const bool is_allowed = from.is_result == is_result ? both
                                : is_result                 ? directions.forward
                                                            : directions.backward;
        if (is_allowed && t != from.tensor)
          Give(op, from.tensor, from.dim, *from.factors, from.axis, t, factors, changed);
      });
    }
  }

  void Give(const FlowOp& op, int from, int from_dim, const DimFactors& factor, int axis, int to,
            const TensorFactors& factors, std::vector<int>* changed) {
    for (size_t e = 0; e < factors.size() && e < plan_[to].dims.size(); ++e) {
      const int dim = static_cast<int>(e);
      if (!Holds(plan_[to].dims[e], axis) || Has(to, dim, axis) || !SharesFactor(factor, factors[e]))
        continue;
      Growth growth;
      growth.from = from;
      growth.from_dim = from_dim;
      growth.through = op.instruction;
      log_[{to, axis}] = growth;
      changed->push_back(to);
    }
  }

  const PreparedProgram& program_;
  const std::vector<FlowOp>& ops_;
  const ShardingPlan& plan_;
  std::vector<absl::InlinedVector<int, 6>> touching_;  // By tensor: the ops with it.
  std::vector<int> uses_;                              // By tensor: how often it is an operand.
  std::vector<bool> is_output_;                        // By tensor.
  std::vector<int> order_;                             // Numbers of ops.
  GrowthLog log_;
};

}  // namespace

GrowthLog HandedOn(const PreparedProgram& program, const ShardingPlan& plan) {
  return Replay(program, plan).Run();
}

}  // namespace toroid
