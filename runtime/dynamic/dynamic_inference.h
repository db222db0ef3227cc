// Rewrites an op over dynamic dimensions as the same op over static shapes of the run-time sizes.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Makes the run-time shapes of operands compatible: a static operand of an elementwise op, reduction, sort or
// dot is cut to the run-time size it meets; slices and gathers keep the bound in dimensions whose result is
// static.
// Errors: kInvalidArgument "run-time sizes 3 and 2 of dimension 0".
absl::Status ReconcileShapes(const Instruction& instruction, std::vector<Shape>* shapes);

// A module whose entry root is the instruction, over parameters of these static shapes. It calls the
// instruction's own computations and must not outlive them. Errors: kInvalidArgument if shape inference
// refuses the sizes.
absl::StatusOr<std::unique_ptr<Module>> MakeStaticOp(const Instruction& instruction,
                                                     const std::vector<Shape>& shapes);

}  // namespace toroid
