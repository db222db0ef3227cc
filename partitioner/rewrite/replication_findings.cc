#include "partitioner/rewrite/replication_findings.h"

#include <vector>

#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// True if the op can run on shards of the operand that are cut in any dimension.
bool CanTakeParts(const FlowOp& op, size_t operand) {
  for (const DimFactors& dim : op.rule->operands[operand]) {
    if (dim.size == 0) return false;
    for (int i = 0; i < dim.size; ++i) {
      if (!CanCutLocally(*op.instruction, op.rule->factors[dim.factor[i]].kind)) return false;
    }
  }
  return true;
}

bool IsCutBefore(const RewriteState& state, int tensor) {
  const auto versions = state.values.versions(tensor);
  if (!state.graph.shape(tensor).IsArray() || state.values.IsRematerializable(tensor) || versions.empty()) {
    return false;
  }
  // The first version is the one the value was computed in; versions fetched for the op come later.
  return versions.front().sharding.DimAxes() != 0;
}

}  // namespace

bool IsNeedlessGather(const FlowOp& op, size_t operand, const Assignment& assignment, AxisSet gathered) {
  AxisSet used = 0;
  for (const AxisList& axes : assignment.factor_axes) used |= axes.Set();
  if (used == 0) return false;  // No axis cuts the op: BytesComputedEverywhere reports it.
  return (gathered & ~used) != 0 && CanTakeParts(op, operand);
}

std::optional<int64_t> BytesComputedEverywhere(const RewriteState& state, const FlowOp& op,
                                               const Assignment& assignment) {
  for (const AxisList& axes : assignment.factor_axes) {
    if (!axes.empty()) return std::nullopt;
  }
  // If a result is partial, the devices share the op's work.
  for (const int t : op.results) {
    if (state.values.IsPartial(t)) return std::nullopt;
  }
  std::optional<int64_t> bytes;
  const auto add = [&](int t) { bytes = bytes.value_or(0) + state.graph.shape(t).ByteSize(); };
  for (const int t : op.operands) {
    if (IsCutBefore(state, t)) add(t);
  }
  for (const int t : op.results) {
    if (state.graph.shape(t).IsArray() && state.plan[t].DimAxes() != 0) add(t);
  }
  return bytes;
}

void AddOverruledShardings(const PreparedProgram& program, ReplicationLog* log) {
  const FlowGraph& graph = *program.graph;
  std::vector<bool> told(graph.num_tensors(), false);
  const auto tell = [&](const Instruction& instruction, int t) {
    const std::optional<Annotation>& annotation = program.annotations.tensor[t];
    if (told[t] || !annotation || !annotation->overruled) return;
    told[t] = true;
    log->Add(instruction, graph.shape(t).ByteSize(),
             "its sharding cuts an array of run-time size, which stays replicated");
  };
  for (const auto& computation : program.flat->computations()) {
    if (!graph.Reached(*computation)) continue;
    for (const auto& instruction : computation->instructions()) {
      for (const int t : graph.Leaves(*instruction)) tell(*instruction, t);
    }
  }
  for (const int t : graph.outputs()) tell(*program.flat->entry()->root(), t);
}

}  // namespace toroid
