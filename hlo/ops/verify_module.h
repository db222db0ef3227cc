// The verifier: what holds of every module that later stages may rely on.
//
//  - Every instruction satisfies the constraints of its family (hlo/ops/*.h), and its shape is the inferred
//  one, up
//    to layouts and dynamic flags. No dimension is of unknown size. Ops of unknown opcodes pass.
//  - Operands and control predecessors belong to the same computation and stand earlier; callees stand before
//  their
//    callers; calls nest at most kMaxCallDepth deep.
//  - Each computation has a root of its own and parameters numbered 0 .. n-1; the module has an entry.
#ifndef TOROID_HLO_OPS_VERIFY_MODULE_H_
#define TOROID_HLO_OPS_VERIFY_MODULE_H_

#include "absl/status/status.h"
#include "hlo/ir/module.h"

namespace toroid {

inline constexpr int kMaxCallDepth = 512;

// Errors: kInvalidArgument "computation/instruction: what is wrong (C3); what to do".
absl::Status VerifyModule(const Module& module);
absl::Status VerifyInstruction(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_VERIFY_MODULE_H_
