#include "hlo/analysis/side_effects.h"

#include <algorithm>

namespace toroid {

SideEffects::SideEffects(const Module& module) : has_(module.num_computations(), false) {
  // Callees are before their callers.
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (!Has(*instruction)) continue;
      has_[computation->index()] = true;
      break;
    }
  }
}

bool SideEffects::Has(const Instruction& instruction) const {
  if (HasTrait(instruction.opcode(), kSideEffect)) return true;
  if (instruction.opcode() == Opcode::kCustomCall && instruction.attrs().custom_call_has_side_effect())
    return true;
  return std::any_of(instruction.called().begin(), instruction.called().end(),
                     [&](const Computation* callee) { return Has(*callee); });
}

}  // namespace toroid
