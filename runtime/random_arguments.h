// Arguments for a module that came without any.
//
// Floats are uniform in [-1, 1), complex numbers in the square, booleans fair. Integers are small, and below
// every dimension that the module indexes, so that they do as indices. The same seed gives the same values
// everywhere.
#ifndef TOROID_RUNTIME_RANDOM_ARGUMENTS_H_
#define TOROID_RUNTIME_RANDOM_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

// Integers of RandomLiterals are in [0, bound): 8, or the smallest dimension indexed if that is smaller.
int64_t IndexBound(const Module& module);

// One value per shape.
std::vector<Literal> RandomLiterals(absl::Span<const Shape> shapes, int64_t int_bound, uint64_t seed);

}  // namespace toroid

#endif  // TOROID_RUNTIME_RANDOM_ARGUMENTS_H_
