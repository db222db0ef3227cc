// Which instructions say the same about the same operands.
//
// Attributes are compared as they stand, but for the channels of collectives, which are numbers without a meaning.
// Hashes take a few numbers of the attributes alone, so that long lists (pairs of devices, large constants) are read
// only for instructions that seem alike.
#ifndef TOROID_HLO_ANALYSIS_ALIKE_H_
#define TOROID_HLO_ANALYSIS_ALIKE_H_

#include <cstddef>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// Equal for equal attributes.
size_t HashOfAttributes(const Instruction& instruction);

// The same fields in attrs(), channels of collectives aside. False where this is not known.
bool HaveEqualAttributes(const Instruction& a, const Instruction& b);

// By the computation's index: the first computation of the module that holds the same instructions, itself if there is
// none before. Reducers that were written out for each of their users are one.
// Example: add.1(a, b) -> a + b and add.2(x, y) -> x + y: {0, 0}.
std::vector<const Computation*> FirstsAlike(const Module& module);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_ALIKE_H_
