// The verifier: checks the constraints that later stages rely on.
//
// Every instruction satisfies the constraints of its family (hlo/ops/*.h) and of every opcode
// (infer_shape.h).
//
// module:
//   M1 the module has an entry, one of its computations.
//   M2 every computation has a root, one of its instructions.
//   M3 operands belong to the same computation and are before their users.
//   M4 control predecessors belong to the same computation and are before their successors.
//   M5 called computations belong to the same module and are before their callers: there is no
//      recursion.
//   M6 calls nest at most kMaxCallDepth deep.
//   M7 the parameters of a computation are numbered 0, 1, .., each once.
#pragma once

#include "absl/status/status.h"
#include "hlo/ir/module.h"

namespace toroid {

inline constexpr int kMaxCallDepth = 512;

// Errors: kInvalidArgument "computation/instruction: what: found this, expected that (C3)".
absl::Status VerifyModule(const Module& module);
absl::Status VerifyInstruction(const Instruction& instruction);

}  // namespace toroid
