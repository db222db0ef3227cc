// The parts that the dimensions of an array are merged from.
#ifndef TOROID_PARTITIONER_PREPARE_DIM_PARTS_H_
#define TOROID_PARTITIONER_PREPARE_DIM_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/shape.h"

namespace toroid {

// By dimension of an array: the sizes of its parts, major first; its own size alone where it is in one.
// Example: of f32[2,768,8], {2}, {12,64}, {8}.
using DimParts = std::vector<Dims>;

DimParts InOnePart(absl::Span<const int64_t> dims);

// Of an array of dimensions `to` that is the reshape of one of dimensions `from`: parts that do not reach across a dimension of
// either, as few as there can be. Null if there are none, as from [6,4] to [8,3].
std::optional<DimParts> PartsOfReshape(absl::Span<const int64_t> from, absl::Span<const int64_t> to);

// Whether some dimension has several parts.
bool AreMerged(const DimParts& parts);

// The dimensions of the same array, one for each part.
Dims UnmergedDims(const DimParts& parts);

// The numbers that the parts of these dimensions have among all parts.
Dims PlacesOfParts(const DimParts& parts, absl::Span<const int64_t> dims);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_DIM_PARTS_H_
