// Sets the numbers of a program's parameters, and the results that take the parameters' memory.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/module.h"

namespace toroid {

// Numbers the parameters in this order. Requires: they are all parameters of `entry`.
absl::Status NumberParameters(absl::Span<const Value> order, Computation* entry);

// Aliases result i, for each of the first `arrays`, with parameter i.
void DonateState(int64_t arrays, Module* module);

}  // namespace toroid
