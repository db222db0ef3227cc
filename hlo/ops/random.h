// Random numbers.
//
// rng: Result: as given.
//   C1 the result has integers, floats or booleans.
//   C2 both operands are scalars of its type.
//   C3 the distribution is rng_uniform or rng_normal.
//   C4 rng_normal gives floats.
//
// rng-get-and-update-state: Result: u64[2].
//
// rng-bit-generator: Result: as given.
//   C1 the algorithm is rng_default, rng_three_fry or rng_philox.
//   C2 the state is u64[2], or u64[3] except for rng_three_fry.
//   C3 the result is (state, array of integers of 8 to 64 bits).
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferRngShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRngGetAndUpdateStateShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRngBitGeneratorShape(const Instruction& instruction);

}  // namespace toroid
