// How much memory a run may take, and the least steps that it needs.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/plan/plan.h"

namespace toroid {

// Default limit for the bytes of live values: four fifths of the memory that the machine and this process's
// control groups (version 1 or 2) have available.
int64_t DefaultMaxBytes();

// Steps that a run of the plan takes if every called computation runs once: loops make one trip, reducers
// combine two elements, conditionals take the shortest branch. INT64_MAX: that many or more.
int64_t StaticSteps(const Plan& plan);

}  // namespace toroid
