#include "partitioner/stages/forms_to_try.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"

namespace toroid {
namespace {

// True if a reshape of `from` to `to` merges a cut dimension of `from` into a dimension of `to` that begins
// before it.
bool MergesCutDim(const Shape& from, const Shape& to, const Sharding& sharding) {
  absl::flat_hash_set<int64_t> begins;  // For each dimension of `to`: the product of the sizes before it.
  int64_t blocks = 1;
  for (const int64_t n : to.dims()) {
    begins.insert(blocks);
    blocks *= n;
  }
  blocks = 1;
  for (int d = 0; d < from.rank(); ++d) {
    if (from.dim(d) > 1 && !sharding.dims[d].empty() && !begins.contains(blocks)) return true;
    blocks *= from.dim(d);
  }
  return false;
}

bool ReversesCutDim(const Instruction& reverse, const Sharding& sharding) {
  return absl::c_any_of(reverse.dimensions(), [&](int64_t d) { return !sharding.dims[d].empty(); });
}

}  // namespace

std::vector<ProgramForm> FormsToTry(const FlowGraph& graph, const ShardingPlan& plan) {
  bool merges = false, reverses = false;
  for (const FlowOp& op : graph.ops()) {
    if (op.instruction == nullptr || op.operands.empty()) continue;
    const Sharding& sharding = plan[op.operands[0]];
    if (op.instruction->opcode() == Opcode::kReshape) {
      merges = merges || MergesCutDim(op.instruction->operand(0)->shape(), op.instruction->shape(), sharding);
    } else if (op.instruction->opcode() == Opcode::kReverse) {
      reverses = reverses || ReversesCutDim(*op.instruction, sharding);
    }
  }
  std::vector<ProgramForm> forms;
  if (merges) forms.push_back(ProgramForm::kUnmergedDims);
  if (reverses) forms.push_back(ProgramForm::kLateReversals);
  return forms;
}

}  // namespace toroid
