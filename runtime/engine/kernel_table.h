// The kernel of each opcode, by the family column of hlo/opcode.inc.
#pragma once

#include "hlo/opcode.h"
#include "runtime/plan/plan.h"

namespace toroid {

// Execute<Family> of the opcode's family. Requires: not kUnknown.
Kernel KernelOf(Opcode opcode);

}  // namespace toroid
