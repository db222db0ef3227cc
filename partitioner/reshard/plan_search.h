// A* over shardings: expands them in the order of their weight so far plus a lower bound on the weight to the target, which
// follows from the bytes that a device still lacks.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "partitioner/reshard/moves.h"

namespace toroid {

// Finds the cheapest plan that reshards an array of global dimensions `dims` and elements of `width` bytes. `bounded`: whether
// intermediates must stay within the bound (plan.h). Adds the number of moves considered to `steps`. nullopt if the search
// gives up.
std::optional<ReshardPlan> SearchPlan(const Mesh& mesh, const CostModel& cost, absl::Span<const int64_t> dims,
                                      int64_t width, const Sharding& from, const Sharding& to, bool bounded,
                                      int64_t* steps);

}  // namespace toroid
