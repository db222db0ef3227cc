// Ops that name and group values.
//
// parameter          C1 the number is in range, the type known. Result: as given.
// constant           C1 the literal has the given shape; it may be left out (its value is then unknown).
// tuple              a tuple of the operands; C2 at most 65,536 leaves.
// get-tuple-element  C1 a tuple operand and an index in range.
// after-all          C1 tokens. Result: token.
// add-dependency     C1 operand 1 is a token. Result: as operand 0.
// replica-id, partition-id  u32[].
#ifndef TOROID_HLO_OPS_STRUCTURE_H_
#define TOROID_HLO_OPS_STRUCTURE_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferParameterShape(const Instruction& instruction);
absl::StatusOr<Shape> InferConstantShape(const Instruction& instruction);
absl::StatusOr<Shape> InferTupleShape(const Instruction& instruction);
absl::StatusOr<Shape> InferGetTupleElementShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAfterAllShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAddDependencyShape(const Instruction& instruction);
absl::StatusOr<Shape> InferDeviceIdShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_STRUCTURE_H_
