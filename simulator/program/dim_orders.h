// Orders of dimensions, minor to major, and what reshapes make of them.
#pragma once

#include <optional>

#include "hlo/ir/shape.h"

namespace toroid {

// Without dimensions of one element.
Dims SizedOrder(const Shape& shape, const Dims& order);

// Differ in dimensions of one element at most.
bool LiesAlike(const Shape& shape, const Dims& a, const Dims& b);

Dims RowMajorOrder(const Shape& shape);

// `first` in front, the others row-major.
Dims OrderFrom(const Shape& shape, const Dims& first);

// The order in which the elements of an array, laid out in `order`, lie when they are reshaped; nullopt if dimensions that
// are merged do not follow each other.
// Example: f32[4,512,1024] in order {1,2,0} as f32[4,512,16,64]: {1,3,2,0}.
std::optional<Dims> OrderThroughReshape(const Shape& from, const Shape& to, const Dims& order);

}  // namespace toroid
