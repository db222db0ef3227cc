// A copy of a module that computes in f64, so that rounding does not hide whether partitioning was correct.
//
//   x = bf16[4] parameter(0)                 x = f64[4] parameter(0)
//   y = f32[4] convert(x)                    y = f64[4] copy(x)
//   w = f32[4] multiply(y, y)          =>    w = f64[4] multiply(y, y)
//   z = s32[4] convert(w)                    r = f32[4] convert(w)
//                                            z = s32[4] convert(r)
//
// All floats become f64 and complex numbers c128, in every computation; convert between float types and
// reduce-precision become copies. An op rounds its operands to their declared types first where
//   - it reads their bits: bitcast-convert, bitcast to another type, stochastic-convert, calls on bits (X64..);
//   - it is discontinuous: conversions to integers, comparisons, floor, ceil, round, remainder, dots that
//     give integers. Two orders of summation can give f64 values on either side of a jump. Rounded to the
//     declared type these are equal, unless they are within 1e-16 of the middle of two floats of the type;
//   - it draws or moves values outside of the program: rng, infeed, outfeed.
// The results of such an op are widened again.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

// f64 for floats, c128 for complex numbers, others as they are; in all leaves.
Shape PromotedShape(const Shape& shape);
// The value in the promoted shape; exact.
Literal PromotedLiteral(const Literal& literal);
// The promoted value rounded to the types of `shape`.
Literal DemotedLiteral(const Literal& literal, const Shape& shape);

// Some instruction has floats below f64, or complex numbers below c128.
bool ComputesBelowF64(const Module& module);

struct PromotedModule {
  std::unique_ptr<Module> module;
  int64_t rounding_ops = 0;  // Instructions that round an operand to a type below f64 first.
  bool jumps = false;        // Some op jumps where its operand changes by little: those above, or sign.
};

// The module shares arenas with `module`. Shardings and the record of a partitioning stay.
// Errors: kInvalidArgument for constants without a value.
absl::StatusOr<PromotedModule> PromoteModule(const Module& module);

}  // namespace toroid
