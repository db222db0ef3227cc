#include "partitioner/reshard/permuted_tiles.h"

#include <cstdint>
#include <vector>

namespace toroid {

Sharding PermutedTowards(const Mesh& mesh, const Sharding& state, const Sharding& to) {
  Sharding permuted = state;
  std::vector<int64_t> left;
  AxisSet free = state.DimAxes();
  for (size_t d = 0; d < state.dims.size(); ++d) {
    permuted.dims[d] = AxisList();
    left.push_back(mesh.Product(state.dims[d]));
    for (const int axis : to.dims[d]) {
      if ((free >> axis & 1) == 0 || left[d] % mesh.size(axis) != 0) break;
      left[d] /= mesh.size(axis);
      free &= ~(AxisSet{1} << axis);
      permuted.dims[d].push_back(axis);
    }
  }
  AxisList pool;
  for (size_t d = 0; d < state.dims.size(); ++d) pool.Append(to.dims[d].Only(free));
  pool.Append(mesh.InOrder(free & ~pool.Set()));
  for (size_t d = 0; d < state.dims.size(); ++d) {
    for (const int axis : pool) {
      if ((free >> axis & 1) == 0 || left[d] % mesh.size(axis) != 0) continue;
      left[d] /= mesh.size(axis);
      free &= ~(AxisSet{1} << axis);
      permuted.dims[d].push_back(axis);
    }
    if (left[d] != 1) return state;
  }
  return permuted;
}

std::optional<Sharding> PermutedTo(const Mesh& mesh, const Sharding& state, const Sharding& to) {
  Sharding permuted = to;
  AxisSet free = state.DimAxes() & ~to.DimAxes();
  for (size_t d = 0; d < state.dims.size(); ++d) {
    const int64_t have = mesh.Product(state.dims[d]), wanted = mesh.Product(to.dims[d]);
    if (have % wanted != 0) return std::nullopt;
    int64_t left = have / wanted;
    for (const int axis : mesh.InOrder(free)) {
      if (left % mesh.size(axis) != 0) continue;
      left /= mesh.size(axis);
      free &= ~(AxisSet{1} << axis);
      permuted.dims[d].push_back(axis);
    }
    if (left != 1) return std::nullopt;
  }
  return permuted;
}

}  // namespace toroid
