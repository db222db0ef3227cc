// Contractions.
//
// dot, ragged-dot, scaled-dot:
//   C1 batch and contracting dimensions of an operand are distinct and in range.
//   C2 they pair up, in equal numbers and of equal sizes.
//   C3 operands and result are all complex, or none is.
// Result dimensions of dot: batch (in the order of the list), lhs free, rhs free. Result type of all three:
// as given, else the lhs's.
//
// ragged-dot: operands lhs, rhs, group_sizes. Result: for a ragged free dimension that of dot without the
// group dimension; for a ragged contracting one [g, batch, ..]; for a ragged batch one that of dot.
//   C4 exactly one ragged dimension, of the lhs.
//   C5 one group dimension of the rhs, itself free, if the ragged dimension is free; else none.
//   C6 group_sizes are integers [g], or [prefix.., g] where the prefix are the lhs batch dimensions
//      and the free or contracting dimensions listed before the ragged one; g is the size of the rhs's
//      group dimension.
//
// scaled-dot: operands lhs, rhs, lhs_scale, rhs_scale. Result: as dot.
//   C4 a scale is a scalar, or has its operand's rank and sizes that divide the operand's.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferDotShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRaggedDotShape(const Instruction& instruction);
absl::StatusOr<Shape> InferScaledDotShape(const Instruction& instruction);

}  // namespace toroid
