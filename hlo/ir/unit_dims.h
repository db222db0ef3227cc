// Unit dimensions (of one element): adding, dropping and moving them moves no data.
#pragma once

#include "hlo/ir/shape.h"

namespace toroid {

// Numbers of the dimensions with more than one element, in order.
Dims SizedDims(const Shape& shape);

// True if both have the same sizes without their unit dimensions.
bool SameButUnitDims(const Shape& a, const Shape& b);

}  // namespace toroid
