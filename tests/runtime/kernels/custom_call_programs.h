// One small program per built-in custom-call target, with its result.
#pragma once

#include <vector>

#include "tests/runtime/kernels/op_programs.h"

namespace toroid {

// In each, OpProgram::opcode holds the custom call's target.
const std::vector<OpProgram>& CustomCallPrograms();

}  // namespace toroid
