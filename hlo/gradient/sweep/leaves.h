// Leaves: the arrays within tuples, numbered in pre-order. Leaf 2 of ((f32[], s32[]), f32[4]) is the f32[4].
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/ir/shape.h"

namespace toroid {

// Shapes of all leaves; for an array, its own shape.
std::vector<Shape> LeafShapes(const Shape& shape);

// Number of leaves in the tuple's elements before element `index`.
int64_t LeafOffset(const Shape& tuple, int64_t index);

// True for real and complex floating-point types.
bool IsDifferentiable(PrimitiveType type);

}  // namespace toroid
