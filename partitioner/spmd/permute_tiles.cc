#include "partitioner/spmd/permute_tiles.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// The axes whose members hold different values without cutting a dimension (manual and partial groups): a
// tile keeps its coordinates along them.
AxisList Apart(const Mesh& mesh, const Sharding& sharding) {
  return mesh.InOrder(sharding.manual | sharding.partial);
}

// The axes along which the coordinates of a device tell which tile it holds.
AxisList TileAxes(const Mesh& mesh, const Sharding& sharding) {
  AxisList all;
  for (const AxisList& axes : sharding.dims) all.Append(axes);
  all.Append(Apart(mesh, sharding));
  return all;
}

// Moves tiles from the axes `from` to the axes `to`. The source of a device has, along `from`, the
// coordinates that the device has along `to`. Its other coordinates are chosen so that a device that already
// holds its tile is its own source. nullopt if the lists do not pair axes of equal sizes.
std::optional<xla::PermutePattern> PatternOfTiles(const Mesh& mesh, const AxisList& from,
                                                  const AxisList& to) {
  if (from.size() != to.size()) return std::nullopt;
  std::vector<int> from_of(mesh.num_axes(), -1), image(mesh.num_axes(), -1);
  for (int i = 0; i < from.size(); ++i) {
    if (mesh.size(from[i]) != mesh.size(to[i])) return std::nullopt;
    from_of[to[i]] = from[i];
    image[from[i]] = to[i];
  }
  xla::PermutePattern pattern;
  for (int axis = 0; axis < mesh.num_axes(); ++axis) {
    int& own = image[axis];
    if (own < 0) {
      // This axis is not in `from`. Follow the chain axis, from_of[axis], .. to an axis that is not in `to`:
      // a device that already holds its tile has equal coordinates along the chain.
      for (own = axis; from_of[own] >= 0;) own = from_of[own];
    }
    if (axis > 0 && own == image[axis - 1] + 1) {
      *pattern.mutable_sizes()->rbegin() *= mesh.size(axis);
      *pattern.mutable_source_strides()->rbegin() = mesh.stride(axis);
      *pattern.mutable_target_strides()->rbegin() = mesh.stride(own);
    } else {
      pattern.add_sizes(mesh.size(axis));
      pattern.add_source_strides(mesh.stride(axis));
      pattern.add_target_strides(mesh.stride(own));
    }
  }
  xla::PermutePattern::Line* all = pattern.add_lines();
  all->set_count(mesh.num_devices());
  all->set_source_step(1);
  all->set_target_step(1);
  return pattern;
}

// Pairs each position with one that holds its tile. A device that already holds its tile keeps it; the others
// are matched with sources in order. Empty if no tile moves.
SpmdBuilder::PositionPairs PairsOfTiles(const Mesh& mesh, const AxisList& from, const AxisList& to) {
  absl::flat_hash_map<int64_t, std::vector<int64_t>> sources;
  SpmdBuilder::PositionPairs pairs;
  std::vector<int64_t> waiting;
  for (int64_t p = 0; p < mesh.num_devices(); ++p) {
    const int64_t tile = mesh.Coordinate(p, from);
    if (tile == mesh.Coordinate(p, to)) {
      pairs.emplace_back(p, p);
    } else {
      sources[tile].push_back(p);
      waiting.push_back(p);
    }
  }
  if (waiting.empty()) return {};
  for (auto& [index, list] : sources) std::reverse(list.begin(), list.end());
  for (const int64_t p : waiting) {
    std::vector<int64_t>& list = sources[mesh.Coordinate(p, to)];
    TOROID_CHECK(!list.empty(), "no source for position ", p);
    pairs.emplace_back(list.back(), p);
    list.pop_back();
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// By entry of the tile array (the dims of `sharding`, then the replicas in mesh order): the mesh position
// that `order` gives it, and the one that the mesh gives it; the other way round if `back`. Sorted.
SpmdBuilder::PositionPairs PairsOfOrders(const Mesh& mesh, const DeviceOrder& order, const Sharding& sharding,
                                         bool back) {
  AxisList axes;
  for (const AxisList& dim : sharding.dims) axes.Append(dim);
  axes.Append(mesh.InOrder(mesh.AllAxes() & ~axes.Set()));
  SpmdBuilder::PositionPairs pairs;
  for (int64_t p = 0; p < mesh.num_devices(); ++p) {
    const int64_t other = mesh.order().PositionOf(order.DeviceAt(mesh.Coordinate(p, axes)));
    pairs.emplace_back(back ? p : other, back ? other : p);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

Instruction* PermuteTiles(SpmdBuilder& b, Instruction* x, const Sharding& from, const Sharding& to) {
  const AxisList before = TileAxes(b.mesh(), from), after = TileAxes(b.mesh(), to);
  if (before == after) return x;
  if (const auto pattern = PatternOfTiles(b.mesh(), before, after)) return b.CollectivePermute(x, *pattern);
  const SpmdBuilder::PositionPairs pairs = PairsOfTiles(b.mesh(), before, after);
  return pairs.empty() ? x : b.CollectivePermute(x, pairs);
}

Instruction* FromDeviceOrder(SpmdBuilder& b, Instruction* x, const DeviceOrder& order,
                             const Sharding& sharding) {
  return b.CollectivePermute(x, PairsOfOrders(b.mesh(), order, sharding, /*back=*/false));
}

Instruction* ToDeviceOrder(SpmdBuilder& b, Instruction* x, const DeviceOrder& order,
                           const Sharding& sharding) {
  return b.CollectivePermute(x, PairsOfOrders(b.mesh(), order, sharding, /*back=*/true));
}

}  // namespace toroid
