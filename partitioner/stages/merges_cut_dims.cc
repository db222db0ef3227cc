#include "partitioner/stages/merges_cut_dims.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"

namespace toroid {
namespace {

bool MergesCutDim(const Shape& from, const Shape& to, const Sharding& sharding) {
  absl::flat_hash_set<int64_t> begins;  // Of the result's dimensions, in rows of how many blocks.
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

}  // namespace

bool MergesCutDims(const FlowGraph& graph, const ShardingPlan& plan) {
  return absl::c_any_of(graph.ops(), [&](const FlowOp& op) {
    return op.instruction != nullptr && op.instruction->opcode() == Opcode::kReshape && !op.operands.empty() &&
           MergesCutDim(op.instruction->operand(0)->shape(), op.instruction->shape(), plan[op.operands[0]]);
  });
}

}  // namespace toroid
