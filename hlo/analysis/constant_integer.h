// The values of integer constants, also behind ops that only move elements.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/instruction.h"

namespace toroid {

// The integer of an array of one element, found as IntegersOf does.
std::optional<int64_t> IntegerOf(const Instruction& value);

// The integers, in row-major order, of a constant of at most 64 elements, or of an array computed from such
// constants by reshapes, broadcasts of one element, and slices and concatenations of arrays in which at most
// one dimension has more than one element. nullopt for any other value, and beyond the range of s64.
// Example: concatenate(reshape(constant(3)), constant({5})) s32[2]: 3, 5.
std::optional<std::vector<int64_t>> IntegersOf(const Instruction& value);

// The constant start of a dynamic-slice or dynamic-update-slice in dimension d, clamped as the op clamps it;
// nullopt if it is no constant, or if the starts are one vector.
std::optional<int64_t> ConstantStart(const Instruction& op, int d);

}  // namespace toroid
