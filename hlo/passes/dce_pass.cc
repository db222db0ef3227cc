#include "hlo/passes/dce_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/analysis/liveness.h"
#include "hlo/analysis/side_effects.h"

namespace toroid {

bool EliminateDeadCode(Module* module, absl::flat_hash_set<const Instruction*>* given) {
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
  if (given == nullptr || given->empty()) return changed;
  absl::flat_hash_set<const Instruction*> left;
  for (const auto& computation : module->computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (given->contains(instruction.get())) left.insert(instruction.get());
    }
  }
  *given = std::move(left);
  return changed;
}

}  // namespace toroid
