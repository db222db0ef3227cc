// The kernel of each opcode, by the family column of hlo/opcode.inc.
#ifndef TOROID_RUNTIME_ENGINE_KERNEL_TABLE_H_
#define TOROID_RUNTIME_ENGINE_KERNEL_TABLE_H_

#include "hlo/opcode.h"
#include "runtime/plan/plan.h"

namespace toroid {

// Execute<Family> of the opcode's family. Requires: not kUnknown.
Kernel KernelOf(Opcode opcode);

}  // namespace toroid

#endif  // TOROID_RUNTIME_ENGINE_KERNEL_TABLE_H_
