// Random numbers.
//
// rng                       C1 two scalars of the result's type, an integer, float or pred. C2 the
// distribution is
//                           rng_uniform or rng_normal. Result: as given.
// rng-get-and-update-state  Result: u64[2].
// rng-bit-generator         C1 the state is u64[2], or u64[3] but for rng_three_fry. C2 the result is (state,
// array of
//                           integers of 8 to 64 bits). C3 the algorithm is known.
#ifndef TOROID_HLO_OPS_RANDOM_H_
#define TOROID_HLO_OPS_RANDOM_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferRngShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRngGetAndUpdateStateShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRngBitGeneratorShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_RANDOM_H_
