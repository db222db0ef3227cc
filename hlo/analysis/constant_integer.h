// The integer that a constant holds.
#ifndef TOROID_HLO_ANALYSIS_CONSTANT_INTEGER_H_
#define TOROID_HLO_ANALYSIS_CONSTANT_INTEGER_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/instruction.h"

namespace toroid {

// The one integer of a scalar constant, or one that holds a single element. nullopt for anything else, and beyond the range
// of s64.
std::optional<int64_t> IntegerOf(const Instruction& constant);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_CONSTANT_INTEGER_H_
