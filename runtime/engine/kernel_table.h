// The kernel of each opcode, by the family column of hlo/opcode.inc.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "hlo/opcode.h"
#include "runtime/plan/plan.h"

namespace toroid {

// Execute<Family> of the opcode's family. Requires: not kUnknown.
Kernel KernelOf(Opcode opcode);

// Bytes that the kernel holds at its peak beside operands and results, where the op's family states them, else 0. `rows`: of
// each operand.
int64_t ScratchBytes(const Instruction& instruction, absl::Span<const int64_t> rows);

}  // namespace toroid
