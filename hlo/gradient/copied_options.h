// What a caller asks of a module, asked of a copy of it.
#ifndef TOROID_HLO_GRADIENT_COPIED_OPTIONS_H_
#define TOROID_HLO_GRADIENT_COPIED_OPTIONS_H_

#include "hlo/gradient/gradient_options.h"
#include "hlo/ir/module.h"

namespace toroid {

// The same instruction in the module that `copy` was made from, or the other way round.
Instruction* InCopy(const Instruction& instruction, const Module& copy);

// `copy` has the instructions of `module` at the same places.
GradientOptions OptionsInCopy(const GradientOptions& options, const Module& module, const Module& copy);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_COPIED_OPTIONS_H_
