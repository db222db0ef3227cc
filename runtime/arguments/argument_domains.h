// Finds the domains that a program's arguments must have for its square roots, logarithms and divisions to be
// defined.
//
//   v = f32[4] parameter(0)
//   s = f32[4] sqrt(v)              =>   parameter 0 is positive
//   ...
//
// The analysis starts at the ops that are not defined everywhere and goes backward to the entry parameters,
// through ops that keep signs (products and sums with positive numbers, broadcast, reshape, calls, loops,
// ..). A square of one value, an exponential and the like are positive anyway, so the analysis stops there;
// it stops at most differences of two values, whose sign it cannot tell. It finds arguments for ordinary
// programs, and proves nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// Domains of an argument's values; the bits may be combined.
enum DomainBit : uint8_t {
  kAnyValue = 0,
  kPositive = 1,
  kNegative = 2,
  kBelowOne = 4,          // Between 0 and 1.
  kPositiveDefinite = 8,  // Matrices in the last two dimensions: symmetric and far from singular.
};
using Domain = uint8_t;

// Domains by entry parameter, then by leaf in pre-order.
std::vector<std::vector<Domain>> ArgumentDomains(const Module& module);

}  // namespace toroid
