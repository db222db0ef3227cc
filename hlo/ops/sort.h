// sort: n arrays, each line along the dimension permuted alike by the comparator (a_0, b_0, a_1, b_1,
// ..) -> pred. Result: the arrays, a tuple if n > 1.
//   C1 one dimension, in range.
//   C2 the arrays have equal sizes.
//   C3 the comparator takes two scalars of each array's type and gives pred[].
//
// topk: Result: (values, s32 indices), the last dimension cut to k.
//   C1 the operand has a last dimension, and 0 <= k <= its size.
//   C2 the operand has integers or floats.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of both: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferSortShape(const Instruction& instruction);
absl::StatusOr<Shape> InferTopKShape(const Instruction& instruction);

}  // namespace toroid
