// Some solution of a core that fits, quickly: the search with the same price of memory in all rows, without a bound.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "partitioner/choice/reduction.h"

namespace toroid {

// A choice that fits, or an empty one if none was found in the time this is given.
std::vector<int> FirstSolution(const ChoiceCore& core, uint64_t seed, const std::function<bool()>& stop);

}  // namespace toroid
