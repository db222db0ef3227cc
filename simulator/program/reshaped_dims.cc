#include "simulator/program/reshaped_dims.h"

namespace toroid {

std::optional<int64_t> SameDim(const Shape& before, const Shape& after, int64_t d) {
  int64_t behind = 1, own = 1;
  for (int64_t i = after.rank() - 1; i > d; --i) behind *= after.dim(i);
  for (int64_t i = before.rank() - 1; i >= 0 && own <= behind; --i) {
    if (own == behind && before.dim(i) == after.dim(d)) return i;
    own *= before.dim(i);
  }
  return std::nullopt;
}

std::vector<ReshapedDims> DimsThroughReshape(const Shape& before, const Shape& after) {
  std::vector<ReshapedDims> groups;
  int64_t i = 0, j = 0;
  const auto skip_units = [](const Shape& shape, int64_t* at) {
    while (*at < shape.rank() && shape.dim(*at) == 1) ++*at;
  };
  while (true) {
    skip_units(before, &i);
    skip_units(after, &j);
    if (i == before.rank() || j == after.rank()) return groups;
    ReshapedDims group{{i}, {j}};
    int64_t left = before.dim(i++), right = after.dim(j++);
    while (left != right) {
      if (left < right) {
        left *= before.dim(i);
        if (before.dim(i) > 1) group.before.push_back(i);
        ++i;
      } else {
        right *= after.dim(j);
        if (after.dim(j) > 1) group.after.push_back(j);
        ++j;
      }
    }
    groups.push_back(std::move(group));
  }
}

}  // namespace toroid
