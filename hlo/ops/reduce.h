// Folds with a called computation.
//
// reduce              operands n arrays, n initial scalars. C1 distinct dimensions in range. C2 arrays of
// equal
//                     sizes, initial value i a scalar of array i's type. C3 the computation takes n
//                     accumulators and n values and gives n accumulators. Result: the remaining dimensions; a
//                     tuple if n > 1.
// reduce-window       as reduce, over windows. C1 one window entry per dimension, size >= 1, strides and
// dilations
//                     >= 1, no overflow. C2, C3 as reduce.
// select-and-scatter  operands operand, source, init. C1 as reduce-window, dilations 1. C2 source has the
// shape of a
//                     reduce-window over operand, init is a scalar of its type. C3 select (a, b) -> pred,
//                     scatter (a, b) -> a. Result: the operand's shape.
// map                 C1 operands of equal sizes. C2 the computation takes one scalar per operand and gives a
// scalar.
//                     C3 dimensions, if given, are 0 .. rank-1. Result type: the computation's.
// scan                operands m inputs, k carries. C1 one dimension, in range of every input, of equal size.
// C2
//                     0 <= num_carries <= operands, at least one input. C3 the computation takes the inputs
//                     without the dimension and the carries and gives a tuple that ends with k values of the
//                     carries' shapes. Result: tuple of its outputs, stacked along the dimension, and the
//                     carries.
#ifndef TOROID_HLO_OPS_REDUCE_H_
#define TOROID_HLO_OPS_REDUCE_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferReduceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferReduceWindowShape(const Instruction& instruction);
absl::StatusOr<Shape> InferSelectAndScatterShape(const Instruction& instruction);
absl::StatusOr<Shape> InferMapShape(const Instruction& instruction);
absl::StatusOr<Shape> InferScanShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_REDUCE_H_
