// Which dimensions became which by a reshape.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/shape.h"

namespace toroid {

// The dimension of `before` that dimension `d` of `after` is: of its size, with as many elements behind one of its own.
std::optional<int64_t> SameDim(const Shape& before, const Shape& after, int64_t d);

// Dimensions of more than one element, as few of both shapes as have the same number of elements together.
struct ReshapedDims {
  Dims before, after;
};
// Example: [4,512,1024] of [2048,1024] has {0} that became {0,1}, and {1} that became {2}. Requires: as many elements, not
// none.
std::vector<ReshapedDims> DimsThroughReshape(const Shape& before, const Shape& after);

}  // namespace toroid
