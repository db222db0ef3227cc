// Loops whose trips are counted.
#ifndef TOROID_HLO_BUILDER_COUNTED_LOOP_H_
#define TOROID_HLO_BUILDER_COUNTED_LOOP_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"

namespace toroid {

// A loop over `state`, a tuple of these leaves, of which leaf 0 is an s32[] that counts the trips from 0 to
// `trips`; `body` adds 1 to it, or another divisor of `trips`. The result is the state after the last trip.
Value CountedLoop(InstructionBuilder& b, absl::Span<const Value> state, int64_t trips, Computation* body);

}  // namespace toroid

#endif  // TOROID_HLO_BUILDER_COUNTED_LOOP_H_
