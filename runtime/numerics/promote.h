// A module with its float arithmetic in f64: a debugging aid that tells rounding from mistakes.
//
//   x = bf16[4] parameter(0)                 x = f64[4] parameter(0)
//   y = bf16[4] add(x, x)                    y = f64[4] add(x, x)
//   z = s32[4] convert(y)              =>    r = bf16[4] convert(y)
//                                            z = s32[4] convert(r)
//
// All floats become f64 and complex numbers c128, in every computation. Values are rounded to their declared
// type only where the program looks at their representation: convert, bitcast-convert, reduce-precision,
// stochastic-convert, dots that give integers, rng, iota, infeed and outfeed run in the declared types, and
// their results are widened again. Custom calls run promoted where their meaning is known, but those on bits
// (X64..).
#ifndef TOROID_RUNTIME_NUMERICS_PROMOTE_H_
#define TOROID_RUNTIME_NUMERICS_PROMOTE_H_

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

// Shares arenas with `module`. Shardings and the record of a partitioning stay.
// Errors: kInvalidArgument for constants without a value.
absl::StatusOr<std::unique_ptr<Module>> PromoteModule(const Module& module);

}  // namespace toroid

#endif  // TOROID_RUNTIME_NUMERICS_PROMOTE_H_
