#include "partitioner/rewrite/reduction_points.h"

#include <algorithm>

#include "partitioner/ops/sharding_rule.h"

namespace toroid {
namespace {

class Analysis {
 public:
  Analysis(const FlowGraph& graph, const std::vector<Sharding>& targets, const Mesh& mesh)
      : graph_(graph), targets_(targets), mesh_(mesh) {
    const int n = graph.num_tensors();
    may_be_partial_.assign(n, false);
    must_reduce_.assign(n, false);
    used_.assign(n, false);
    done_.assign(n, false);
    through_.assign(n, 0);
    bytes_.assign(n, 0);
  }

  std::vector<bool> Run() {
    for (int t = 0; t < graph_.num_tensors(); ++t) may_be_partial_[t] = targets_[t].partial != 0;
    for (const FlowOp& op : graph_.ops()) NotePartial(op);
    // Operands come before their users, so from the end users are met first.
    for (auto op = graph_.ops().rbegin(); op != graph_.ops().rend(); ++op) Visit(*op);
    for (const int output : graph_.outputs()) must_reduce_[output] = true;
    return std::move(must_reduce_);
  }

 private:
  // Marks the results that a cut reduction, or a linear op over partial operands, leaves partial.
  void NotePartial(const FlowOp& op) {
    if (op.instruction == nullptr || op.results.size() != 1) return;
    bool partial = LeavesPartial(op);
    const uint32_t operands = PartialOperands(op);
    for (const Linearity& linearity : op.rule->linear) partial |= (operands & linearity.together) != 0;
    may_be_partial_[op.results[0]] = partial;
  }

  // True if the op reduces or looks up along a dimension that is cut where its operands lie.
  bool LeavesPartial(const FlowOp& op) const {
    const ShardingRule& rule = *op.rule;
    bool reduces = false;
    for (const Factor& factor : rule.factors) {
      reduces |= factor.kind == FactorKind::kReduction || factor.kind == FactorKind::kIndexed;
    }
    if (!reduces) return false;
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
    return PartialAxes(rule, factor_axes) != 0;
  }

  uint32_t PartialOperands(const FlowOp& op) const {
    uint32_t operands = 0;
    for (size_t i = 0; i < op.operands.size() && i < 32; ++i) {
      if (may_be_partial_[op.operands[i]]) operands |= uint32_t{1} << i;
    }
    return operands;
  }

  // How many operands enter together where operand `i` may enter partial and no other one does; 0 if it may
  // not.
  int LinearTogether(const FlowOp& op, size_t i) const {
    if (op.instruction == nullptr || op.results.size() != 1 || i >= 32) return 0;
    uint32_t present = PartialOperands(op);
    for (size_t k = 0; k < op.operands.size() && k < 32; ++k) {
      if (op.operands[k] == op.operands[i]) present |= uint32_t{1} << k;
    }
    int together = 0;
    for (const Linearity& linearity : op.rule->linear) {
      if (linearity.together >> i & 1 && (present & ~linearity.together) == 0) {
        together = __builtin_popcount(linearity.together);
      }
    }
    return together;
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
    const double own = LocalBytes(t);
    bytes_[t] = must_reduce_[t] || !used_[t] ? own : std::min(own, through_[t]);
    if (used_[t] && through_[t] > own) must_reduce_[t] = true;
  }

  double LocalBytes(int t) const {
    double bytes = static_cast<double>(ByteWidth(graph_.shape(t).element_type()));
    for (const int64_t size : mesh_.ShardDims(graph_.shape(t).dims(), targets_[t])) {
      bytes *= static_cast<double>(size);
    }
    return bytes;
  }

  const FlowGraph& graph_;
  const std::vector<Sharding>& targets_;
  const Mesh& mesh_;
  std::vector<bool> may_be_partial_, must_reduce_, used_, done_;
  std::vector<double> through_;  // Bytes reduced if every user reduces its own result.
  std::vector<double> bytes_;    // Bytes at which the tensor is best reduced.
};

}  // namespace

std::vector<bool> MustReduce(const FlowGraph& graph, const std::vector<Sharding>& targets, const Mesh& mesh) {
  return Analysis(graph, targets, mesh).Run();
}

}  // namespace toroid
