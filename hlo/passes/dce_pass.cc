#include "hlo/passes/dce_pass.h"

#include <algorithm>
#include <vector>

#include "hlo/analysis/liveness.h"
#include "hlo/analysis/side_effects.h"

namespace toroid {

bool EliminateDeadCode(Module* module) {
  bool changed = false;
  const SideEffects side_effects(*module);
  for (const auto& computation : module->computations()) {
    std::vector<bool> needed = NeededInstructions(*computation, side_effects);
    for (const Instruction* parameter : computation->parameters()) needed[parameter->index()] = true;
    if (std::find(needed.begin(), needed.end(), false) == needed.end()) continue;
    changed = true;
    computation->Keep(needed);
  }
  module->RemoveUnreachableComputations();
  return changed;
}

}  // namespace toroid
