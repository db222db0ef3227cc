// The integers that constants hold, and what is made of them by moving them.
#ifndef TOROID_HLO_ANALYSIS_CONSTANT_INTEGER_H_
#define TOROID_HLO_ANALYSIS_CONSTANT_INTEGER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/instruction.h"

namespace toroid {

// The one integer of an array of a single element, as below.
std::optional<int64_t> IntegerOf(const Instruction& value);

// The integers, in row-major order, of a constant of at most 64 elements; of a reshape, broadcast of one element, slice or
// concatenation of such in which one dimension at most has more than one element. nullopt for anything else, and beyond the
// range of s64.
// Example: concatenate(reshape(constant(3)), constant({5})) s32[2]: 3, 5.
std::optional<std::vector<int64_t>> IntegersOf(const Instruction& value);

// Where the window of a dynamic-slice or dynamic-update-slice of scalar starts begins in dimension d, clamped as the op does, if
// that is a constant.
std::optional<int64_t> ConstantStart(const Instruction& op, int d);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_CONSTANT_INTEGER_H_
