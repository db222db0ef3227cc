// Contractions.
//
// dot         result dimensions: batch (in the order of the list), lhs free, rhs free. C1 batch and
// contracting
//             dimensions distinct and in range. C2 they pair up in equal sizes. C3 operands and result are
//             all complex or none is. Result type: as given, else the lhs's.
// ragged-dot  operands lhs, rhs, group_sizes. C1 .. C3 as dot. C4 exactly one ragged dimension of the lhs. C5
// one
//             group dimension of the rhs, no batch or contracting one, if the ragged dimension is free, else
//             none. C6 group_sizes are integers [g], or [prefix.., g] with the lhs batch dimensions and the
//             dimensions listed before the ragged one as prefix; g is the rhs's group dimension. Result:
//             ragged free dimension: as dot without the group dimension; contracting: [g, batch, ..]; batch:
//             as dot.
// scaled-dot  operands lhs, rhs, lhs_scale, rhs_scale. C1 .. C3 as dot. C4 a scale is a scalar, or has its
// operand's
//             rank and sizes that divide the operand's.
#ifndef TOROID_HLO_OPS_DOT_H_
#define TOROID_HLO_OPS_DOT_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferDotShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRaggedDotShape(const Instruction& instruction);
absl::StatusOr<Shape> InferScaledDotShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_DOT_H_
