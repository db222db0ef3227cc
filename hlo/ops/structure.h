// Ops that name and group values.
//
// parameter: Result: as given. (Numbers: M7 of verify_module.h.)
//   C1 every leaf is an array, a token, an opaque value or a buffer.
//
// constant: Result: as given. The literal may be left out; its value is then unknown.
//   C1 the literal has as many values as its shape has elements.
//   C2 the literal has the given shape.
//
// tuple: Result: a tuple of the operands.
//
// get-tuple-element:
//   C1 the operand is a tuple.
//   C2 0 <= index < its number of elements.
//
// after-all: Result: token.
//   C1 the operands are tokens.
//
// add-dependency: Result: as operand 0.
//   C1 operand 1 is a token.
//
// device-id: replica-id, partition-id. Result: u32[].
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferParameterShape(const Instruction& instruction);
absl::StatusOr<Shape> InferConstantShape(const Instruction& instruction);
absl::StatusOr<Shape> InferTupleShape(const Instruction& instruction);
absl::StatusOr<Shape> InferGetTupleElementShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAfterAllShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAddDependencyShape(const Instruction& instruction);
absl::StatusOr<Shape> InferDeviceIdShape(const Instruction& instruction);

}  // namespace toroid
