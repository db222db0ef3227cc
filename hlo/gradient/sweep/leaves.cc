#include "hlo/gradient/sweep/leaves.h"

namespace toroid {
namespace {

void Collect(const Shape& shape, std::vector<Shape>* leaves) {
  if (!shape.IsTuple()) {
    leaves->push_back(shape);
    return;
  }
  for (const Shape& element : shape.tuple_shapes()) Collect(element, leaves);
}

}  // namespace

std::vector<Shape> LeafShapes(const Shape& shape) {
  std::vector<Shape> leaves;
  Collect(shape, &leaves);
  return leaves;
}

int64_t LeafOffset(const Shape& tuple, int64_t index) {
  int64_t offset = 0;
  for (int64_t i = 0; i < index; ++i) offset += tuple.tuple_shape(i).NumLeaves();
  return offset;
}

bool IsDifferentiable(PrimitiveType type) { return IsFloat(type) || IsComplex(type); }

}  // namespace toroid
