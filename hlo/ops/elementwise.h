// Elementwise ops: result[i] = f(operands at i).
//
// unary     C1 the operand's type is in the op's class (abs, sign: signed integers, floats, complex; floor
// ..:
//           floats; exponential ..: floats, complex; not: pred, integers; popcnt, clz: integers).
//           C2 reduce-precision: 1 <= exponent_bits <= 63, 0 <= mantissa_bits <= 63.
//           Result: as the operand; is-finite pred; abs, real, imag of complex the real type.
// binary    C1 the type is in the op's class. C2 equal types (stochastic-convert: an unsigned integer of the
//           float's width). C3 equal sizes.
//           Result: as operand 0; complex of f32 c64, of f64 c128; stochastic-convert as given.
// compare   C1 direction is one of EQ NE GE GT LE LT, complex only EQ NE. C2 equal types and sizes. C3 type
// is
//           FLOAT, TOTALORDER, SIGNED, UNSIGNED or absent, and fits the operands. Result: pred.
// select    C1 the predicate is a pred, scalar or of the branches' sizes. C2 both branches have one shape
// (tuples
//           only with a scalar predicate).
// clamp     C1 equal types, no complex. C2 bounds are scalars or of the operand's sizes.
// convert   C1 the given sizes are the operand's.
// bitcast-convert  C1 no pred; complex only to complex. C2 equal widths: equal sizes; to width w from k*w: a
//           trailing dimension k appended; to k*w from w: a trailing dimension k removed.
#ifndef TOROID_HLO_OPS_ELEMENTWISE_H_
#define TOROID_HLO_OPS_ELEMENTWISE_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferUnaryShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBinaryShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCompareShape(const Instruction& instruction);
absl::StatusOr<Shape> InferSelectShape(const Instruction& instruction);
absl::StatusOr<Shape> InferClampShape(const Instruction& instruction);
absl::StatusOr<Shape> InferConvertShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBitcastConvertShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_ELEMENTWISE_H_
