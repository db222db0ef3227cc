// How often loops, and the computations of a module, run.
//
// A loop is countable if its condition compares a variable of its state with a bound, its body adds a
// constant to that variable, and first value, step and bound are constants, or values that start as constants
// and that the body hands on unchanged. Its trips are those of `for (i = first; i < bound; i += step)`, for
// each direction of comparison. A known_trip_count in the backend_config is taken as true.
// Example: first 0, step 2, condition i < 5: 3 trips.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// Trips of a `while`; nullopt if it is not countable or never ends.
std::optional<int64_t> TripCount(const Instruction& loop);

// How often a computation runs when the entry runs once. Saturates.
struct Executions {
  int64_t times = 0;  // A loop of unknown length counts one trip.
  bool in_loop = false;
  bool known = true;          // False inside a loop of unknown length.
  bool in_condition = false;  // Of a loop: the loop waits for it before every trip.
};

// By the computation's index. Each branch of a conditional counts as taken.
std::vector<Executions> CountExecutions(const Module& module);

}  // namespace toroid
