#include "partitioner/rewrite/manual_boundary.h"

#include "partitioner/propagation/manual_regions.h"

namespace toroid {

void RewriteManualBoundary(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                           const ManualBoundary& boundary) {
  for (const CrossingValue& crossing : CrossingValues(state.graph, instruction, boundary)) {
    const auto [local, global] =
        crossing.SidesOf(state.graph, state.mesh, state.values.Planned(crossing.local),
                         state.values.Replicated(crossing.global).manual);
    if (boundary.enters) {
      state.values.Add(crossing.local, local, state.values.Get(b, crossing.global, global, instruction));
    } else {
      state.values.Add(crossing.global, global, state.values.Get(b, crossing.local, local, instruction));
    }
  }
}

}  // namespace toroid
