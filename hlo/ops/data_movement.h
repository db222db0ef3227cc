// Ops that move elements without computing on them.
//
// broadcast    result[.., i_dimensions[k], ..] = x[.., i_k, ..]. C1 one distinct result dimension per operand
//              dimension. C2 sizes there are equal (1 does not stretch), types too.
// reshape      C1 equal type and number of elements, row-major order kept.
// bitcast      C1 equal number of bits.
// transpose    result size i = operand size dimensions[i]. C1 dimensions is a permutation.
// reverse      C1 distinct dimensions in range.
// concatenate  C1 one dimension, in range. C2 equal types, and sizes elsewhere.
// slice        size ceil((limit - start) / stride). C1 one entry per dimension. C2 0 <= start <= limit <=
// size.
//              C3 stride >= 1.
// pad          size low + high + n + (n - 1) * interior. C1 one entry per dimension. C2 the padding value is
// a
//              scalar of the operand's type. C3 interior >= 0. C4 result sizes >= 0, without overflow.
// iota         C1 rank >= 1 and the dimension in range. C2 integers, floats or complex.
// copy, opt-barrier, domain  the operand's shape, also of tuples and tokens.
#ifndef TOROID_HLO_OPS_DATA_MOVEMENT_H_
#define TOROID_HLO_OPS_DATA_MOVEMENT_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
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

#endif  // TOROID_HLO_OPS_DATA_MOVEMENT_H_
