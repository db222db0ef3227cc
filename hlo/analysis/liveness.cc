#include "hlo/analysis/liveness.h"

namespace toroid {

std::vector<bool> NeededInstructions(const Computation& computation, const SideEffects& side_effects) {
  std::vector<bool> needed(computation.size(), false);
  if (computation.root() != nullptr) needed[computation.root()->index()] = true;
  for (int i = computation.size() - 1; i >= 0; --i) {
    const Instruction& instruction = *computation.instruction(i);
    if (!needed[i]) needed[i] = side_effects.Has(instruction);
    if (!needed[i]) continue;
    for (const Instruction* operand : instruction.operands()) needed[operand->index()] = true;
    for (const Instruction* before : instruction.control_predecessors()) needed[before->index()] = true;
  }
  return needed;
}

std::vector<int> LastUses(const Computation& computation, const std::vector<bool>& needed) {
  std::vector<int> last(computation.size(), -1);
  for (int i = 0; i < computation.size(); ++i) {
    if (!needed[i]) continue;
    for (const Instruction* operand : computation.instruction(i)->operands()) last[operand->index()] = i;
  }
  return last;
}

}  // namespace toroid
