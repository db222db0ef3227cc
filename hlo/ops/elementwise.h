// Elementwise ops: result[i] = f(operands at i).
// "One type" allows different floats: the op then computes in the common one (CommonFloat of constraint.h). A
// result may also be declared with another float type than the inferred one (A5): the op then rounds.
//
// unary:
//   C1 abs, sign take signed integers, floats or complex numbers.
//   C2 negate takes integers, floats or complex numbers.
//   C3 not takes booleans or integers.
//   C4 popcnt, count-leading-zeros take integers.
//   C5 floor, ceil, round-nearest-afz, round-nearest-even, is-finite, cbrt, erf, reduce-precision
//      take floats.
//   C6 all others (exponential, log, sqrt, tanh, real, imag, ...) take floats or complex numbers.
//   C7 reduce-precision: 1 <= exponent_bits <= 63 and 0 <= mantissa_bits <= 63.
// Result: as the operand; is-finite pred; abs, real, imag of complex numbers the real type.
//
// binary:
//   C1 both operands have one type (stochastic-convert aside).
//   C2 stochastic-convert takes a float and an unsigned integer of its width, and gives integers or
//      floats.
//   C3 both operands have equal sizes.
//   C4 subtract, divide, power take integers, floats or complex numbers.
//   C5 mulhi, shift-left, shift-right-logical, shift-right-arithmetic take integers.
//   C6 remainder takes integers or floats.
//   C7 maximum, minimum take booleans, integers or floats.
//   C8 and, or, xor take booleans or integers.
//   C9 atan2 takes floats or complex numbers.
//   C10 complex takes f32 or f64, both operands the same.
// add, multiply are defined on all types. Result: as operand 0; complex of f32 c64, of f64 c128;
// stochastic-convert as given.
//
// compare:
//   C1 the direction is EQ, NE, GE, GT, LE or LT.
//   C2 complex numbers are compared only by EQ or NE.
//   C3 both operands have one type and equal sizes.
//   C4 the type is absent, or fits the operands: FLOAT (floats, complex), TOTALORDER (floats),
//      SIGNED, UNSIGNED (pred too).
// Result: pred.
//
// select:
//   C1 the predicate has type pred, and is a scalar or has the branches' sizes.
//   C2 both branches have one shape, an array's or a tuple's.
//
// clamp:
//   C1 no complex numbers.
//   C2 the bounds have the operand's type.
//   C3 the bounds are scalars or have the operand's sizes.
//
// convert:
//   C1 the result is an array of the operand's sizes.
//
// bitcast-convert:
//   C1 pred becomes only pred, complex numbers only complex numbers; the result is an array.
//   C2 the widths are equal, or one is a multiple k of the other: a wider operand gets a trailing
//      dimension k, a narrower one has a trailing dimension k, which the result lacks.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferUnaryShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBinaryShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCompareShape(const Instruction& instruction);
absl::StatusOr<Shape> InferSelectShape(const Instruction& instruction);
absl::StatusOr<Shape> InferClampShape(const Instruction& instruction);
absl::StatusOr<Shape> InferConvertShape(const Instruction& instruction);
absl::StatusOr<Shape> InferBitcastConvertShape(const Instruction& instruction);

}  // namespace toroid
