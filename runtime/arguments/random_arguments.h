// Generated arguments, for a module that comes without any.
//
// Floats are uniform in [-1, 1), complex numbers uniform in the square, booleans true half of the time.
// Integers are small, and below every dimension that the module indexes, so they can serve as indices. If the
// program asks for a domain (argument_domains.h): positive floats in [1/16, 1), integers from 1, values below
// one in [1/16, 15/16), matrices with 1 or more on the diagonal and less than 1 / n elsewhere. Equal seeds
// give equal values on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/arguments/argument_domains.h"

namespace toroid {

// RandomLiterals draws integers from [0, bound): 8, or the smallest indexed dimension if that is smaller.
int64_t IndexBound(const Module& module);

// One value per shape. `domains`: for each shape one per leaf; or empty.
std::vector<Literal> RandomLiterals(absl::Span<const Shape> shapes, int64_t int_bound, uint64_t seed,
                                    absl::Span<const std::vector<Domain>> domains = {});

}  // namespace toroid
