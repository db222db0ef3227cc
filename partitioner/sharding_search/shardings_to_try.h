// The shardings of an array that a search looks at.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partitioner/plan/op_choices.h"

namespace toroid {

// Whether `parts` devices that share `size` elements, ceil(size / parts) each, hold at most an eighth more than there is.
bool IsWorthCutting(int64_t size, int64_t parts);

// Each unit cuts one dimension that IsWorthCutting, or none; units that cut the same dimension do so in their order. The first
// one is whole. `prefers_even`: a unit that can cut a dimension into equal parts cuts none into others, for arguments and
// results, whose owner may not be able to hold unequal parts (JAX is not).
// Example: f32[4,6] over units of 2 and 4: whole; {2}, {} and {}, {2} and {4}, {}, and 4 x 2 parts. f32[99,8] over a unit of 4:
// whole, columns, and rows, 25 on a device, unless even parts are preferred.
std::vector<Sharding> ShardingsToTry(absl::Span<const int64_t> dims, const AxisUnits& units, const Mesh& mesh,
                                     bool prefers_even);

}  // namespace toroid
