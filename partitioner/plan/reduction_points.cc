// Where partial sums are best reduced, analysed for a whole program before any op is written.
//
// A linear op may take a value partial, so that the op's result is reduced instead. That is cheaper if the
// result is smaller (a slice, a sum), and dearer if several users would each reduce a result of their own.
// From the outputs backwards, the analysis computes for every tensor the least bytes that a device sends to
// reduce it, either at once or behind its users. Over axes that cut its target sharding, the reduction is a
// reduce-scatter, else an all-reduce.
//
// Example, over 8 devices, g a partial f32[1024,4096]:
//   step = 0.1 g; norm = sum(g g)  g g needs g reduced; g is reduced once, and step is not partial
//   row = g[0]                     16 kB are reduced behind the slice
//   y = dot(g, w), w cut over 8    if g stayed partial, the 8 devices could not share the dot: g is reduced
//   y = g + d; z = tanh(d)         d is reduced for z, so g is reduced before it is added
//
// A product is linear in each of its operands. If both may be partial it takes neither partial: one of them
// would have to be reduced for it, and the other is then the same sum or is reduced too.
#include <algorithm>

#include "hlo/base/math.h"
#include "partitioner/plan/op_decider.h"

namespace toroid {
namespace {

class Analysis {
 public:
  Analysis(const FlowGraph& graph, const std::vector<Sharding>& targets, const Mesh& mesh)
      : graph_(graph), targets_(targets), mesh_(mesh), complete_(graph.num_tensors(), false) {}

  std::vector<bool> Run() {
    Round();
    // If one term of a sum is reduced for another user, the other terms cannot stay partial. The second round
    // knows the tensors that the first one found to be reduced.
    if (MeetsComplete()) {
      complete_ = must_reduce_;
      Round();
      for (size_t t = 0; t < complete_.size(); ++t) must_reduce_[t] = must_reduce_[t] || complete_[t];
    }
    return std::move(must_reduce_);
  }

 private:
  void Round() {
    const int n = graph_.num_tensors();
    partial_.assign(n, 0);
    must_reduce_.assign(n, false);
    used_.assign(n, false);
    done_.assign(n, false);
    through_.assign(n, 0);
    bytes_.assign(n, 0);
    for (int t = 0; t < n; ++t) partial_[t] = targets_[t].partial;
    for (const FlowOp& op : graph_.ops()) NotePartial(op);
    // Ops come after the producers of their operands, so in reverse order users come first.
    for (auto op = graph_.ops().rbegin(); op != graph_.ops().rend(); ++op) Visit(*op);
    for (const int output : graph_.outputs()) must_reduce_[output] = true;
  }

  // True if some op has two operands that may be partial, of which one is to be reduced and one is not.
  bool MeetsComplete() const {
    for (const FlowOp& op : graph_.ops()) {
      if (op.operands.size() < 2 || op.instruction == nullptr || op.results.size() != 1) continue;
      bool reduced = false, passed = false;
      for (const int t : op.operands) {
        if (partial_[t] == 0) continue;
        (must_reduce_[t] ? reduced : passed) = true;
      }
      if (reduced && passed) return true;
    }
    return false;
  }

  bool MayBePartial(int t) const { return partial_[t] != 0 && !complete_[t]; }

  // Sets the axes over which the op's result may be partial: a cut reduction, or partial operands of a linear
  // op.
  void NotePartial(const FlowOp& op) {
    if (op.instruction == nullptr || op.results.size() != 1) return;
    AxisSet partial = LeavesPartial(op);
    const uint32_t operands = PartialOperands(op);
    for (const Linearity& linearity : op.rule->linear) {
      for (uint32_t passed = operands & linearity.together; passed != 0; passed &= passed - 1) {
        partial |= partial_[op.operands[__builtin_ctz(passed)]];
      }
    }
    partial_[op.results[0]] = partial;
  }

  // The axes over which the op leaves its result partial, because they cut a dimension that it reduces or
  // indexes.
  AxisSet LeavesPartial(const FlowOp& op) const {
    const ShardingRule& rule = *op.rule;
    bool reduces = false;
    for (const Factor& factor : rule.factors) {
      reduces |= factor.kind == FactorKind::kReduction || factor.kind == FactorKind::kIndexed;
    }
    if (!reduces) return 0;
    absl::InlinedVector<AxisList, 6> factor_axes(rule.factors.size());
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const TensorFactors& tensor = rule.operands[i];
      const Sharding& sharding = targets_[op.operands[i]];
      for (size_t d = 0; d < tensor.size() && d < sharding.dims.size(); ++d) {
        for (int k = 0; k < tensor[d].size; ++k) {
          const AxisList axes = FactorAxes(mesh_, rule, tensor[d], k, sharding.dims[d]);
          if (!axes.empty()) factor_axes[tensor[d].factor[k]] = axes;
        }
      }
    }
    return PartialAxes(rule, factor_axes);
  }

  uint32_t PartialOperands(const FlowOp& op) const {
    uint32_t operands = 0;
    for (size_t i = 0; i < op.operands.size() && i < 32; ++i) {
      if (MayBePartial(op.operands[i])) operands |= uint32_t{1} << i;
    }
    return operands;
  }

  // The number of operands that must be partial together with operand `i`, itself included, if the op may
  // take it partial; 0 if it may not.
  int LinearTogether(const FlowOp& op, size_t i) const {
    if (op.instruction == nullptr || op.results.size() != 1 || i >= 32) return 0;
    uint32_t present = PartialOperands(op);
    for (size_t k = 0; k < op.operands.size() && k < 32; ++k) {
      if (op.operands[k] == op.operands[i]) present |= uint32_t{1} << k;
    }
    int together = 0;
    for (const Linearity& linearity : op.rule->linear) {
      if (!(linearity.together >> i & 1) || (present & ~linearity.together) != 0) continue;
      if (MeetsComplete(op, linearity)) continue;
      together = __builtin_popcount(linearity.together);
    }
    if (together != 0 && RepeatsWork(op, i)) return 0;
    return together;
  }

  // True if an operand of `linearity`, which would have to be partial, is known to be reduced.
  bool MeetsComplete(const FlowOp& op, const Linearity& linearity) const {
    for (size_t k = 0; k < op.operands.size() && k < 32; ++k) {
      if (linearity.together >> k & 1 && complete_[op.operands[k]] && partial_[op.operands[k]] != 0)
        return true;
    }
    return false;
  }

  // True if the op is a contraction that could be cut over the axes of the partial operand `i` if that were
  // reduced first.
  bool RepeatsWork(const FlowOp& op, size_t i) const {
    if (op.rule->flops_per_point == 0) return false;
    AxisSet others = targets_[op.results[0]].DimAxes();
    for (size_t k = 0; k < op.operands.size(); ++k) {
      if (k != i) others |= targets_[op.operands[k]].DimAxes();
    }
    return (others & partial_[op.operands[i]]) != 0;
  }

  void Visit(const FlowOp& op) {
    for (const int result : op.results) Finish(result);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const int t = op.operands[i];
      used_[t] = true;
      const int together = LinearTogether(op, i);
      if (together == 0 || !done_[op.results[0]]) {
        must_reduce_[t] = true;
      } else {
        through_[t] += bytes_[op.results[0]] / together;
      }
    }
  }

  void Finish(int t) {
    if (done_[t]) return;
    done_[t] = true;
    const double own = ReductionBytes(t);
    bytes_[t] = must_reduce_[t] || !used_[t] ? own : std::min(own, through_[t]);
    if (used_[t] && through_[t] > own) must_reduce_[t] = true;
  }

  // The bytes that one device sends to reduce a tensor to its target sharding: by reduce-scatter over the
  // axes of the sum that cut the target, by all-reduce over the others. If the tensor is partial over no
  // axes, the all-reduce bytes for many devices.
  double ReductionBytes(int t) const {
    double bytes = static_cast<double>(ByteWidth(graph_.shape(t).element_type()));
    const Sharding& target = targets_[t];
    AxisSet scattered = 0;
    for (size_t d = 0; d < target.dims.size(); ++d) {
      const AxisSet cut = target.dims[d].Set();
      scattered |= cut & partial_[t];
      bytes *= static_cast<double>(
          CeilOfRatio(graph_.shape(t).dim(static_cast<int>(d)), mesh_.Product(cut & ~partial_[t])));
    }
    if (partial_[t] == 0) return 2 * bytes;
    const double scatter = static_cast<double>(mesh_.Product(scattered));
    const double rest = static_cast<double>(mesh_.Product(partial_[t] & ~scattered));
    return bytes * (scatter - 1) / scatter + 2 * bytes / scatter * (rest - 1) / rest;
  }

  const FlowGraph& graph_;
  const std::vector<Sharding>& targets_;
  const Mesh& mesh_;
  std::vector<bool> complete_;    // By tensor: reduced at once, by the round before.
  std::vector<AxisSet> partial_;  // The axes over which a tensor may be partial.
  std::vector<bool> must_reduce_, used_, done_;
  std::vector<double> through_;  // Bytes sent if the results of all users are reduced instead.
  std::vector<double> bytes_;    // Bytes sent by the cheaper choice.
};

}  // namespace

std::vector<bool> MustReduce(const FlowGraph& graph, const std::vector<Sharding>& targets, const Mesh& mesh) {
  return Analysis(graph, targets, mesh).Run();
}

}  // namespace toroid
