// What is replicated that was cut, for --stats and --explain.
#include "absl/strings/str_cat.h"
#include "partitioner/computation_partitioner.h"

namespace toroid {

// An operand was gathered whole for an op that is cut elsewhere. That is no replication where the op needs
// the dimension whole, or where the axes now cut something else of the op: weights split over the axis of the
// batch.
void ComputationPartitioner::ReportGather(const Instruction& instruction, const FlowOp& op, int operand,
                                          const Assignment& assignment) {
  AxisSet used = 0;
  for (const AxisList& axes : assignment.factor_axes) used |= axes.Set();
  if (used == 0 || (gathered_whole_ & ~used) == 0) return;  // Nothing cut: reported as a whole.
  bool needs_whole = false;
  for (const DimFactors& dim : op.rule->operands[operand]) {
    bool can_cut = dim.size > 0;
    for (int i = 0; i < dim.size; ++i)
      can_cut &= CanCutLocally(instruction, op.rule->factors[dim.factor[i]].kind);
    needs_whole |= !can_cut;
  }
  if (needs_whole) return;
  const int t = op.operands[operand];
  full_replications_.push_back({instruction.name(), SourceLine(module_, instruction.metadata()),
                                graph_.shape(t).ByteSize(),
                                absl::StrCat("operand ", operand, " is gathered whole")});
}

void ComputationPartitioner::ReportReplication(const Instruction& instruction, const FlowOp& op,
                                               const Assignment& assignment) {
  for (const AxisList& axes : assignment.factor_axes) {
    if (!axes.empty()) return;
  }
  // A partial value is spread over the devices as it is.
  for (const int t : op.results) {
    if (OnlyPartial(t)) return;
  }
  // Nothing is cut where the op runs: was something cut around it?
  bool cut = false;
  int64_t bytes = 0;
  for (const int t : op.operands) {
    bool everywhere = IsFree(t);
    for (const Version& version : values_[t].versions) {
      // Versions made for this op come last; what the value was before tells.
      everywhere |= version.sharding.IsReplicated() && &version == &values_[t].versions.front();
    }
    if (everywhere || !graph_.shape(t).IsArray() || values_[t].versions.empty()) continue;
    if (values_[t].versions.front().sharding.DimAxes() == 0) continue;
    cut = true;
    bytes += graph_.shape(t).ByteSize();
  }
  for (const int t : op.results) {
    if (!graph_.shape(t).IsArray() || targets_[t].DimAxes() == 0) continue;
    cut = true;
    bytes += graph_.shape(t).ByteSize();
  }
  if (!cut) return;
  full_replications_.push_back({instruction.name(), SourceLine(module_, instruction.metadata()), bytes,
                                absl::StrCat(instruction.opcode_name(), " is computed on whole arrays")});
}

void ComputationPartitioner::ReportOverruled() {
  std::vector<bool> told(graph_.num_tensors(), false);
  const auto tell = [&](const Instruction& instruction, int t) {
    if (told[t] || !annotations_.tensor[t] || !annotations_.tensor[t]->overruled) return;
    told[t] = true;
    full_replications_.push_back({instruction.name(), SourceLine(module_, instruction.metadata()),
                                  graph_.shape(t).ByteSize(),
                                  "its sharding cuts an array of run-time size, which stays whole"});
  };
  for (const auto& computation : module_.computations()) {
    if (!graph_.Reached(*computation)) continue;
    for (const auto& instruction : computation->instructions()) {
      for (const int t : graph_.Leaves(*instruction)) tell(*instruction, t);
    }
  }
  for (const int t : graph_.outputs()) tell(*module_.entry()->root(), t);
}

}  // namespace toroid
