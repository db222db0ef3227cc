// Shape inference of any instruction, by the family of its opcode.
//
// every-opcode:
//   A1 it has as many operands as the table of opcodes says; a variadic op has at least the operands
//      it needs.
//   A2 it calls as many computations as its attributes name: to_apply, calls 1; condition and body,
//      select and scatter 2; branches 1 or more; custom calls any number.
//   A3 the operands are arrays, unless the family says otherwise.
//   A4 the shape is given if it does not follow from operands and attributes.
//   A5 a given shape is equal to the inferred one, up to layouts and dynamic flags.
//   A6 the result has at most 64 dimensions or levels of tuples, and at most 65,536 leaves and inner
//      tuples; its bytes fit 64 bits.
//   A7 no operand and no result has a dimension of unknown size.
// Ops of unknown opcodes may have any operands and any shape.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Infers the result shape from operands and attributes, with row-major layouts, and checks all constraints of
// the opcode's family. For ops whose result does not follow from these (parameter, convert, reshape,
// custom-call, ...) it checks the given shape and returns it. For an unknown opcode it returns the given
// shape.
// Errors: kInvalidArgument "what: found this, expected that (C3)", with the constraint's number in the
// family's header.
absl::StatusOr<Shape> InferShape(const Instruction& instruction);

}  // namespace toroid
