// Folds with a called computation. Types are equal up to floats: a fold computes in the types of its
// computation.
//
// reduce, reduce-window: operands n arrays, then n initial values. Result: a tuple if n > 1.
//   C1 as many initial values as arrays, at least one of each.
//   C2 the arrays have equal sizes.
//   C3 initial value i is a scalar of array i's type.
//   C4 the computation takes n accumulators and n values, scalars, and gives n accumulators (a tuple
//      if n > 1).
//
// reduce: Result: the remaining dimensions.
//   C5 dimensions are distinct and in range.
//
// reduce-window:
//   C5 one window entry per dimension, of size >= 1.
//   C6 strides and dilations are >= 1, and no step of computing the result's sizes overflows.
//   C7 a window size times 16 fits 64 bits; so do the bytes of the padded array.
//
// select-and-scatter: operands operand, source, initial value. Result: the operand's shape.
//   C1 one window entry per dimension, of size >= 1.
//   C2 strides are >= 1, dilations 1, and no step of computing the number of windows overflows.
//   C3 a window size times 16 fits 64 bits; so do the bytes of the padded array.
//   C4 the source has one element per window, of the operand's type.
//   C5 the initial value is a scalar of the operand's type.
//   C6 select takes two scalars of that type and gives pred[].
//   C7 scatter takes two scalars of that type and gives one.
//
// map: Result type: the computation's.
//   C1 the operands have equal sizes.
//   C2 the computation takes one scalar per operand, of its type, and gives a scalar.
//   C3 dimensions, if given, are 0 .. rank-1.
//
// scan: operands m inputs, then k carries. Result: the computation's outputs, stacked along the
// dimension, and the carries, as a tuple.
//   C1 0 <= num_carries < operands.
//   C2 one dimension, in range of every input.
//   C3 the inputs have equal sizes there.
//   C4 the computation takes the inputs without the dimension, then the carries.
//   C5 it gives a tuple of arrays, the outputs, which end with the carries' shapes; the dimension is
//      in range of the stacked outputs.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferReduceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferReduceWindowShape(const Instruction& instruction);
absl::StatusOr<Shape> InferSelectAndScatterShape(const Instruction& instruction);
absl::StatusOr<Shape> InferMapShape(const Instruction& instruction);
absl::StatusOr<Shape> InferScanShape(const Instruction& instruction);

}  // namespace toroid
