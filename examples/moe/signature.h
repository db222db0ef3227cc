// Which numbers a program's parameters have, and which results take their memory.
#ifndef TOROID_EXAMPLES_MOE_SIGNATURE_H_
#define TOROID_EXAMPLES_MOE_SIGNATURE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/module.h"

namespace toroid {

// Gives the parameters the numbers of this order. Requires: they are all that `entry` has.
absl::Status NumberParameters(absl::Span<const Value> order, Computation* entry);

// Result i, of the first `arrays`, is written where parameter i was.
void DonateState(int64_t arrays, Module* module);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_MOE_SIGNATURE_H_
