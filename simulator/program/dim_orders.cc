#include "simulator/program/dim_orders.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/ir/unit_dims.h"

namespace toroid {

Dims SizedOrder(const Shape& shape, const Dims& order) {
  Dims sized;
  for (const int64_t d : order) {
    if (shape.dim(d) != 1) sized.push_back(d);
  }
  return sized;
}

bool LiesAlike(const Shape& shape, const Dims& a, const Dims& b) {
  return a == b || SizedOrder(shape, a) == SizedOrder(shape, b);
}

Dims RowMajorOrder(const Shape& shape) {
  Dims order;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) order.push_back(d);
  return order;
}

Dims OrderFrom(const Shape& shape, const Dims& first) {
  Dims order = first;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    if (std::find(first.begin(), first.end(), d) == first.end()) order.push_back(d);
  }
  return order;
}

std::optional<Dims> OrderThroughReshape(const Shape& from, const Shape& to, const Dims& order) {
  const Dims before = SizedDims(from), after = SizedDims(to);
  // Runs of dimensions of both that hold the same elements; group of each sized dimension of `from`, dimensions of `to`
  // of each group.
  std::vector<int> group_of(from.rank(), -1);
  std::vector<Dims> from_of, to_of;
  size_t i = 0, j = 0;
  while (i < before.size() && j < after.size()) {
    Dims a = {before[i]}, b = {after[j]};
    int64_t x = from.dim(before[i++]), y = to.dim(after[j++]);
    while (x != y) {
      if (x < y) {
        if (i == before.size()) return std::nullopt;
        x *= from.dim(before[i]);
        a.push_back(before[i++]);
      } else {
        if (j == after.size()) return std::nullopt;
        y *= to.dim(after[j]);
        b.push_back(after[j++]);
      }
    }
    for (const int64_t d : a) group_of[d] = static_cast<int>(from_of.size());
    from_of.push_back(std::move(a));
    to_of.push_back(std::move(b));
  }
  if (i < before.size() || j < after.size()) return std::nullopt;
  Dims first;
  const Dims sized = SizedOrder(from, order);
  for (size_t k = 0; k < sized.size();) {
    const int group = group_of[sized[k]];
    if (group < 0) return std::nullopt;
    // From the last dimension of the group to its first.
    for (auto d = from_of[group].rbegin(); d != from_of[group].rend(); ++d, ++k) {
      if (k >= sized.size() || sized[k] != *d) return std::nullopt;
    }
    first.insert(first.end(), to_of[group].rbegin(), to_of[group].rend());
  }
  return OrderFrom(to, first);
}

}  // namespace toroid
