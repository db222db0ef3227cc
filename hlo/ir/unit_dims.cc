#include "hlo/ir/unit_dims.h"

namespace toroid {

Dims SizedDims(const Shape& shape) {
  Dims sized;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) != 1) sized.push_back(d);
  }
  return sized;
}

bool SameButUnitDims(const Shape& a, const Shape& b) {
  int i = 0, j = 0;
  while (true) {
    while (i < a.rank() && a.dim(i) == 1) ++i;
    while (j < b.rank() && b.dim(j) == 1) ++j;
    if (i == a.rank() || j == b.rank()) return i == a.rank() && j == b.rank();
    if (a.dim(i++) != b.dim(j++)) return false;
  }
}

}  // namespace toroid
