// The arrays, tokens and opaque parts of a shape.
#pragma once

#include <vector>

#include "hlo/ir/shape.h"

namespace toroid {

inline void AppendLeaves(const Shape& shape, std::vector<const Shape*>* leaves) {
  if (!shape.IsTuple()) leaves->push_back(&shape);
  for (const Shape& element : shape.tuple_shapes()) AppendLeaves(element, leaves);
}

// Left to right; valid as long as `shape`.
inline std::vector<const Shape*> LeavesOf(const Shape& shape) {
  std::vector<const Shape*> leaves;
  AppendLeaves(shape, &leaves);
  return leaves;
}

}  // namespace toroid
