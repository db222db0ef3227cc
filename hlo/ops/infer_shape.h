// Shape inference of any instruction, by the family of its opcode.
#ifndef TOROID_HLO_OPS_INFER_SHAPE_H_
#define TOROID_HLO_OPS_INFER_SHAPE_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// The result shape that follows from operands and attributes, with row-major layouts; checks all constraints
// of the opcode's family on the way. Ops whose result does not follow (parameter, convert, reshape,
// custom-call, ...) check the shape the instruction was given and return it. Unknown opcodes return what they
// were given. Errors: kInvalidArgument "what is wrong (C3); what to do", the constraint as numbered in the
// family's header.
absl::StatusOr<Shape> InferShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_INFER_SHAPE_H_
