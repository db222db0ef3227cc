#include "partitioner/rewrite/manual_boundary.h"

#include <vector>

namespace toroid {

void RewriteManualBoundary(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                           const ManualBoundary& boundary) {
  std::vector<int> operands;
  for (const Instruction* operand : instruction.operands()) {
    for (const int leaf : state.graph.Leaves(*operand)) operands.push_back(leaf);
  }
  const auto results = state.graph.Leaves(instruction);
  for (size_t i = 0; i < results.size(); ++i) {
    const Sharding local = state.values.Planned(boundary.enters ? results[i] : operands[i]);
    Sharding global = state.values.Replicated(boundary.enters ? operands[i] : results[i]);
    global.dims.resize(local.dims.size());
    for (size_t d = 0; d < local.dims.size(); ++d) {
      global.dims[d] = boundary.global[i].dims[d].Only(boundary.manual);
      global.dims[d].Append(local.dims[d]);
    }
    const Sharding& before = boundary.enters ? global : local;
    const Sharding& behind = boundary.enters ? local : global;
    state.values.Add(results[i], behind, state.values.Get(b, operands[i], before, instruction));
  }
}

}  // namespace toroid
