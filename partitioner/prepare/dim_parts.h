// The parts from which a reshape merged each dimension of an array.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/shape.h"

namespace toroid {

// By dimension of an array: the sizes of its parts, major first. A dimension that is not merged has one part,
// itself.
// Example: f32[2,768,8] as a reshape of f32[2,12,64,8] has the parts {2}, {12,64}, {8}.
using DimParts = std::vector<Dims>;

// Each dimension in one part.
DimParts InOnePart(absl::Span<const int64_t> dims);

// The fewest parts of the dimensions `to`, a reshape of the dimensions `from`, such that each part lies
// within one dimension of either array. nullopt if there are none, as from [6,4] to [8,3].
std::optional<DimParts> PartsOfReshape(absl::Span<const int64_t> from, absl::Span<const int64_t> to);

// Whether some dimension has several parts.
bool AreMerged(const DimParts& parts);

// The dimensions of the unmerged array: one for each part.
Dims UnmergedDims(const DimParts& parts);

// The dimensions of the unmerged array that are parts of `dims`.
// Example: with parts {2}, {12,64}, {8}, dimension 1 has the parts 1 and 2.
Dims PlacesOfParts(const DimParts& parts, absl::Span<const int64_t> dims);

}  // namespace toroid
