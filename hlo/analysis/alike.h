// Finds instructions that compute the same of equal operands.
//
// All attributes are compared except the channel ids of collectives, which carry no meaning. A hash takes
// only a few numbers of each attribute, so that long lists (pairs of devices, large constants) are read only
// for instructions with equal hashes.
#pragma once

#include <cstddef>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// Equal if HaveEqualAttributes is true.
size_t HashOfAttributes(const Instruction& instruction);

// True if attrs() holds the same fields, channel ids aside. False also if equality is not known.
bool HaveEqualAttributes(const Instruction& a, const Instruction& b);

// By the computation's index: the first computation of the module that holds the same instructions, possibly
// itself. Reducers written out for each of their users thus count as one.
// Example: add.1(a, b) -> a + b and add.2(x, y) -> x + y: {0, 0}.
std::vector<const Computation*> FirstsAlike(const Module& module);

}  // namespace toroid
