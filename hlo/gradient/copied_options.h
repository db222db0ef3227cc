// Translates gradient options for a module to a copy of it.
#pragma once

#include "hlo/gradient/sweep/gradient_options.h"
#include "hlo/ir/module.h"

namespace toroid {

// The instruction of `copy` at the same place as `instruction` of the original (or vice versa).
Instruction* InCopy(const Instruction& instruction, const Module& copy);

// Requires: `copy` has the instructions of `module` at the same places.
GradientOptions OptionsInCopy(const GradientOptions& options, const Module& module, const Module& copy);

}  // namespace toroid
