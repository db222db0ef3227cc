// One small program per built-in custom-call target, with its result.
#ifndef TOROID_TESTS_RUNTIME_KERNELS_CUSTOM_CALL_PROGRAMS_H_
#define TOROID_TESTS_RUNTIME_KERNELS_CUSTOM_CALL_PROGRAMS_H_

#include <vector>

#include "tests/runtime/kernels/op_programs.h"

namespace toroid {

// In each, OpProgram::opcode holds the custom call's target.
const std::vector<OpProgram>& CustomCallPrograms();

}  // namespace toroid

#endif  // TOROID_TESTS_RUNTIME_KERNELS_CUSTOM_CALL_PROGRAMS_H_
