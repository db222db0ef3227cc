// Where the arguments of a program must lie for its square roots, logarithms and divisions to be defined.
//
//   v = f32[4] parameter(0)
//   s = f32[4] sqrt(v)              =>   parameter 0 is positive
//   ...
//
// Followed backward from the ops that are not defined everywhere, through ops that keep signs (products and
// sums with positive numbers, broadcast, reshape, calls, loops, ..), to the entry parameters. What begins at
// a product of a value with itself, an exponential and the like is positive anyway and asks for nothing; what
// is a difference of two values is not followed. So this finds arguments for ordinary programs, and proves
// nothing.
#ifndef TOROID_RUNTIME_ARGUMENTS_ARGUMENT_DOMAINS_H_
#define TOROID_RUNTIME_ARGUMENTS_ARGUMENT_DOMAINS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// What the values of an argument must be; several may be asked for.
enum DomainBit : uint8_t {
  kAnyValue = 0,
  kPositive = 1,
  kNegative = 2,
  kBelowOne = 4,          // Between 0 and 1.
  kPositiveDefinite = 8,  // Matrices in the last two dimensions, symmetric, far from singular.
};
using Domain = uint8_t;

// Per entry parameter, one per leaf in pre-order.
std::vector<std::vector<Domain>> ArgumentDomains(const Module& module);

}  // namespace toroid

#endif  // TOROID_RUNTIME_ARGUMENTS_ARGUMENT_DOMAINS_H_
