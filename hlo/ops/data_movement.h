// Ops that move elements without computing on them. Types are equal up to floats (see elementwise.h).
//
// broadcast: result[.., i_dimensions[k], ..] = x[.., i_k, ..].
//   C1 one distinct result dimension per operand dimension.
//   C2 sizes there are equal (1 does not stretch).
//   C3 the result is an array of the operand's type.
//
// reshape: row-major order is kept.
//   C1 as many elements as the operand.
//   C2 the operand's type.
//
// bitcast:
//   C1 the result is an array of as many bits as the operand, of elements or with the padding of tiles; pred
//      counts 8.
//
// transpose: size i is operand size dimensions[i].
//   C1 dimensions is a permutation of the operand's.
//
// reverse:
//   C1 dimensions are distinct and in range.
//
// concatenate: sizes along the dimension add up.
//   C1 one dimension, in range.
//   C2 the operands have one type.
//   C3 the operands have equal sizes in all other dimensions; the sum fits 64 bits.
//
// slice: size ceil((limit - start) / stride).
//   C1 one entry per dimension.
//   C2 0 <= start <= limit <= size.
//   C3 stride >= 1, and the operand's bytes times it fit 64 bits.
//
// pad: size low + high + n + (n - 1) * interior.
//   C1 one entry per dimension.
//   C2 the padding value is a scalar of the operand's type.
//   C3 interior >= 0.
//   C4 result sizes are >= 0, and neither a step of computing them nor 4 times a padding overflows.
//
// iota:
//   C1 one dimension, in range (a scalar has none).
//   C2 an array of integers, floats or complex numbers.
//
// identity: copy, opt-barrier, domain. Result: the operand's shape, tuples and tokens too.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferBroadcastShape(const Instruction& instruction);
absl::StatusOr<Shape> InferReshapeShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBitcastShape(const Instruction& instruction);
absl::StatusOr<Shape> InferTransposeShape(const Instruction& instruction);
absl::StatusOr<Shape> InferReverseShape(const Instruction& instruction);
absl::StatusOr<Shape> InferConcatenateShape(const Instruction& instruction);
absl::StatusOr<Shape> InferSliceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferPadShape(const Instruction& instruction);
absl::StatusOr<Shape> InferIotaShape(const Instruction& instruction);
absl::StatusOr<Shape> InferIdentityShape(const Instruction& instruction);

}  // namespace toroid
