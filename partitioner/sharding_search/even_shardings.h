// The shardings of an array that cut it into equal parts.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partitioner/plan/op_choices.h"

namespace toroid {

// Each unit cuts one dimension, or none; units that cut the same dimension do so in their order. The first one is whole.
// Example: f32[4,6] over units of 2 and 4: whole; {2}, {} and {}, {2} and {4}, {}: the others do not divide 4 or 6.
std::vector<Sharding> EvenShardings(absl::Span<const int64_t> dims, const AxisUnits& units, const Mesh& mesh);

}  // namespace toroid
