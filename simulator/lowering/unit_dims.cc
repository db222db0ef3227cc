#include "simulator/lowering/unit_dims.h"

namespace toroid {

Dims SizedDims(const Shape& shape) {
  Dims sized;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) != 1) sized.push_back(d);
  }
  return sized;
}

bool SameButUnitDims(const Shape& a, const Shape& b) {
  const Dims of_a = SizedDims(a), of_b = SizedDims(b);
  if (of_a.size() != of_b.size()) return false;
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (a.dim(of_a[i]) != b.dim(of_b[i])) return false;
  }
  return true;
}

bool KeepsTiles(const Shape& from, const Shape& to, int64_t sublanes) {
  if (SameButUnitDims(from, to)) return true;
  const Dims before = SizedDims(from), after = SizedDims(to);
  if (before.empty() || after.empty()) return true;
  if (from.dim(before.back()) != to.dim(after.back())) return false;
  const auto rows = [](const Shape& shape, const Dims& dims) {
    return dims.size() < 2 ? int64_t{1} : shape.dim(dims[dims.size() - 2]);
  };
  const int64_t a = rows(from, before), b = rows(to, after);
  return a == b || (a % sublanes == 0 && b % sublanes == 0);
}

}  // namespace toroid
