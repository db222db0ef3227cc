// Liveness: which instructions a computation needs, and until when, in program order.
#pragma once

#include <vector>

#include "hlo/analysis/side_effects.h"
#include "hlo/ir/module.h"

namespace toroid {

// By index: true for instructions that the root or a side effect depends on, by operands or control
// dependencies.
std::vector<bool> NeededInstructions(const Computation& computation, const SideEffects& side_effects);

// By index: the last needed user of the instruction; -1 if there is none.
std::vector<int> LastUses(const Computation& computation, const std::vector<bool>& needed);

}  // namespace toroid
