#include "simulator/lowering/unit_dims.h"

#include <algorithm>

#include "simulator/lowering/tiling.h"

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
  // Of dimensions minor to major.
  const auto keeps = [&](const Dims& before, const Dims& after) {
    if (before.empty() || after.empty()) return true;
    if (from.dim(before[0]) != to.dim(after[0])) return false;
    const int64_t a = before.size() < 2 ? 1 : from.dim(before[1]), b = after.size() < 2 ? 1 : to.dim(after[1]);
    return a == b || (a % sublanes == 0 && b % sublanes == 0);
  };
  if (keeps(PhysicalOrder(from), PhysicalOrder(to))) return true;
  Dims before = SizedDims(from), after = SizedDims(to);
  std::reverse(before.begin(), before.end());
  std::reverse(after.begin(), after.end());
  return keeps(before, after);
}

}  // namespace toroid
