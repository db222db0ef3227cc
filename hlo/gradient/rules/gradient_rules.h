// The table of gradient rules: <Family>Gradient for each family of hlo/opcode.inc, in the family's file.
// Families without a gradient are listed in gradient_rules.cc.
#pragma once

#include "hlo/gradient/sweep/reverse_sweep.h"

namespace toroid {

// Adds to the cotangents of the op's operands, by the caller's rule for the value or by the op's own rule. An
// op whose derivative is zero almost everywhere (floor) adds nothing.
// Errors: kUnimplemented, without the op's path, if the op or this instance of it has no gradient.
absl::Status ApplyGradientRule(const Instruction& op, ReverseSweep* sweep);

}  // namespace toroid
