// What the targets of custom calls say, and which instructions hand values on: result leaf i equals operand leaf i,
// whatever tuples the leaves stand in.
//
// opt-barrier, copy and domain are such, and custom calls of the targets listed here. They say where or when a
// value is wanted, never what it is.
// Example: b = (f32[2], s32[]) opt-barrier(t): b's leaves are t's.
#ifndef TOROID_HLO_ANALYSIS_CUSTOM_CALL_TARGETS_H_
#define TOROID_HLO_ANALYSIS_CUSTOM_CALL_TARGETS_H_

#include "absl/strings/string_view.h"
#include "hlo/ir/instruction.h"

namespace toroid {

bool IsCallTo(const Instruction& instruction, absl::string_view target);

// True for a custom call of one operand whose target hands it on. Its result may have another shape: then it is
// no identity, whatever its target says.
bool IsIdentityTarget(const Instruction& instruction);

// True for an identity that only speaks of shardings: a program that has been partitioned needs none of them.
bool IsShardingAnnotation(const Instruction& instruction);

// True for a custom call whose result element at an index depends on the operands' elements at that index alone: the
// target says so, and operands and result have the same dimensions.
bool IsElementwiseCall(const Instruction& instruction);

// True if the one operand's leaves are the result's.
bool HandsLeavesOn(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_CUSTOM_CALL_TARGETS_H_
