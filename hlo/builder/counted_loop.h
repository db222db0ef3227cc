// Loops with a trip counter.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"

namespace toroid {

// Adds a loop over a tuple of the values `state`, and returns the state after the last trip. Leaf 0 is an
// s32[] counter: it starts from 0, the loop ends when it reaches `trips`, and `body` adds 1 or another
// divisor of `trips`.
Value CountedLoop(InstructionBuilder& b, absl::Span<const Value> state, int64_t trips, Computation* body);

}  // namespace toroid
