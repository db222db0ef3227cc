// Properties of custom call targets, and identities: instructions whose result leaf i equals operand leaf i,
// in whatever tuples the leaves are.
//
// opt-barrier, copy, domain, and custom calls of the targets listed in the source are identities. They state
// where, when or in which sharding a value is needed, and do not change it.
// Example: b = (f32[2], s32[]) opt-barrier(t): b's leaves are t's.
#pragma once

#include "absl/strings/string_view.h"
#include "hlo/ir/instruction.h"

namespace toroid {

bool IsCallTo(const Instruction& instruction, absl::string_view target);

// True for a custom call of one operand whose target is an identity. The call itself is one only if operand
// and result also agree in shape: see HandsLeavesOn.
bool IsIdentityTarget(const Instruction& instruction);

// True for an identity that only states a sharding. A partitioned program needs none of them.
bool IsShardingAnnotation(const Instruction& instruction);

// True for a custom call whose target is elementwise and whose operands and result have the same dimensions:
// a result element depends only on the operands' elements at the same index.
bool IsElementwiseCall(const Instruction& instruction);

// True if the instruction is an identity of one operand: the operand's leaves are the result's.
bool HandsLeavesOn(const Instruction& instruction);

}  // namespace toroid
