#include "hlo/devices/mesh.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// A strided digit of the position numbering.
struct Part {
  int64_t size;
  int64_t stride;
};

// The order as digits, major to minor, in positions of `mesh_order`; nullopt if it is not a product of
// strided digits.
std::optional<std::vector<Part>> PartsOf(const DeviceOrder& order, const DeviceOrder& mesh_order) {
  const int64_t n = order.size();
  if (mesh_order.size() != n) return std::nullopt;
  std::vector<Part> parts;
  const bool identity = mesh_order.is_iota() && mesh_order.reshape().size() == 1;
  if (identity && order.is_iota()) {
    for (const int p : order.perm()) {
      int64_t stride = 1;
      for (size_t m = p + 1; m < order.reshape().size(); ++m) stride *= order.reshape()[m];
      if (order.reshape()[p] > 1) parts.push_back({order.reshape()[p], stride});
    }
    return parts;
  }
  const auto position = [&](int64_t i) { return mesh_order.PositionOf(order.DeviceAt(i)); };
  if (n > 0 && position(0) != 0) return std::nullopt;
  // From the minor side: the longest arithmetic progression at the current spacing is one digit.
  for (int64_t block = 1; block < n;) {
    const int64_t stride = position(block);
    int64_t size = 2;
    while (size * block < n && position(size * block) == size * stride) ++size;
    while (n % (size * block) != 0) --size;
    if (size < 2) return std::nullopt;
    parts.push_back({size, stride});
    block *= size;
  }
  std::reverse(parts.begin(), parts.end());
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, expected = 0;
    for (int k = static_cast<int>(parts.size()) - 1; k >= 0; --k) {
      expected += rest % parts[k].size * parts[k].stride;
      rest /= parts[k].size;
    }
    if (expected != position(i)) return std::nullopt;
  }
  return parts;
}

// Cuts the digits into one list per tile dimension; nullopt if a tile dimension straddles a digit.
std::optional<std::vector<std::vector<Part>>> PartsPerDim(const HloSharding& sharding,
                                                          const DeviceOrder& mesh_order) {
  std::optional<std::vector<Part>> parts = PartsOf(sharding.order(), mesh_order);
  if (!parts) return std::nullopt;
  std::vector<std::vector<Part>> per_dim;
  size_t next = 0;
  const auto take = [&](int64_t tiles) {
    std::vector<Part> taken;
    while (tiles > 1) {
      if (next >= parts->size()) return false;
      Part& part = (*parts)[next];
      if (tiles % part.size == 0) {
        taken.push_back(part);
        tiles /= part.size;
        ++next;
      } else if (part.size % tiles == 0) {
        taken.push_back({tiles, part.stride * (part.size / tiles)});
        part.size /= tiles;
        tiles = 1;
      } else {
        return false;
      }
    }
    per_dim.push_back(std::move(taken));
    return true;
  };
  for (const int64_t tiles : sharding.tiles()) {
    if (!take(tiles)) return std::nullopt;
  }
  for (const HloSharding::Subgroup& subgroup : sharding.subgroups()) {
    if (!take(subgroup.size)) return std::nullopt;
  }
  return per_dim;
}

}  // namespace

std::vector<int64_t> CutsOf(const HloSharding& sharding, const DeviceOrder& order) {
  std::vector<int64_t> cuts;
  if (!sharding.IsTiled()) return cuts;
  const auto per_dim = PartsPerDim(sharding, order);
  if (!per_dim) return cuts;
  for (const auto& parts : *per_dim) {
    for (const Part& part : parts) {
      cuts.push_back(part.stride);
      cuts.push_back(part.stride * part.size);
    }
  }
  return cuts;
}

Mesh::Mesh(int64_t num_devices, absl::Span<const int64_t> cuts, DeviceOrder order)
    : num_devices_(num_devices), order_(std::move(order)) {
  std::vector<int64_t> chain = {1, num_devices};  // Ascending, each dividing the next.
  for (const int64_t cut : cuts) {
    const auto above = std::lower_bound(chain.begin(), chain.end(), cut);
    if (above == chain.end() || *above == cut) continue;
    if (cut < 1 || *above % cut != 0 || cut % *(above - 1) != 0) continue;
    chain.insert(above, cut);
  }
  for (size_t i = chain.size() - 1; i > 0; --i) {
    int64_t stride = chain[i];
    int64_t rest = chain[i] / chain[i - 1];
    for (int64_t prime = 2; rest > 1; ++prime) {
      if (prime * prime > rest) prime = rest;
      while (rest % prime == 0) {
        rest /= prime;
        stride /= prime;
        sizes_.push_back(prime);
        strides_.push_back(stride);
      }
    }
  }
  TOROID_CHECK(num_axes() <= AxisList::kMaxAxes, num_devices, " devices");
}

absl::StatusOr<Mesh> Mesh::Relabeled(absl::Span<const int64_t> relabel) const {
  std::vector<int64_t> devices(num_devices_);
  for (int64_t i = 0; i < num_devices_; ++i) devices[i] = relabel[order_.DeviceAt(i)];
  Mesh mesh = *this;
  ASSIGN_OR_RETURN(mesh.order_, DeviceOrder::Explicit(std::move(devices)));
  return mesh;
}

std::vector<int64_t> Mesh::Positions(const AxisList& axes) const {
  std::vector<int64_t> positions = {0};
  for (const int axis : axes) {
    std::vector<int64_t> longer;
    longer.reserve(positions.size() * sizes_[axis]);
    for (const int64_t position : positions) {
      for (int64_t i = 0; i < sizes_[axis]; ++i) longer.push_back(position + i * strides_[axis]);
    }
    positions = std::move(longer);
  }
  return positions;
}

std::optional<AxisList> Mesh::AxesOfPart(int64_t size, int64_t stride) const {
  AxisList axes;
  int64_t covered = 1;
  for (int axis = 0; axis < num_axes(); ++axis) {
    if (strides_[axis] * sizes_[axis] > stride * size) continue;
    if (strides_[axis] < stride) break;
    axes.push_back(axis);
    covered *= sizes_[axis];
  }
  if (covered != size) return std::nullopt;
  return axes;
}

std::optional<Sharding> Mesh::FromHlo(const HloSharding& sharding, int rank) const {
  Sharding result = Sharding::Replicated(rank);
  if (sharding.kind() == HloSharding::Kind::kManual) result.manual = AllAxes();
  if (sharding.kind() == HloSharding::Kind::kUnreduced) result.partial = AllAxes();
  if (!sharding.IsTiled()) return result;
  const auto per_dim = PartsPerDim(sharding, order_);
  if (!per_dim || sharding.order().size() != num_devices_) return std::nullopt;
  const int data = static_cast<int>(sharding.tiles().size());
  for (size_t i = 0; i < per_dim->size(); ++i) {
    AxisList axes;
    for (const Part& part : (*per_dim)[i]) {
      const std::optional<AxisList> piece = AxesOfPart(part.size, part.stride);
      if (!piece) return std::nullopt;
      axes.Append(*piece);
    }
    if (static_cast<int>(i) < data) {
      if (static_cast<int>(i) < rank) result.dims[i] = axes;
    } else if (sharding.subgroups()[i - data].type == xla::OpSharding::MANUAL) {
      result.manual |= axes.Set();
    } else if (sharding.subgroups()[i - data].type == xla::OpSharding::UNREDUCED) {
      result.partial |= axes.Set();
    }
  }
  return result;
}

HloSharding Mesh::ToHlo(const Sharding& sharding) const {
  std::vector<int64_t> tiles;
  std::vector<HloSharding::Subgroup> subgroups;
  AxisList order;  // The axes of the tile array's digits.
  for (const AxisList& dim : sharding.dims) {
    tiles.push_back(Product(dim));
    order.Append(dim);
  }
  AxisSet used = sharding.DimAxes();
  const auto subgroup = [&](xla::OpSharding::Type type, AxisSet axes) {
    if (axes == 0) return;
    subgroups.push_back({type, Product(axes)});
    order.Append(InOrder(axes));
    used |= axes;
  };
  if (used == 0 && sharding.manual == AllAxes() && num_axes() > 0)
    return HloSharding::OfKind(HloSharding::Kind::kManual);
  if (used == 0 && sharding.manual == 0 && sharding.partial == 0) return HloSharding::Replicated();
  subgroup(xla::OpSharding::MANUAL, sharding.manual);
  subgroup(xla::OpSharding::UNREDUCED, sharding.partial & ~used);
  subgroup(xla::OpSharding::REPLICATED, AllAxes() & ~used);
  // Neighbouring axes that stay neighbours are one iota dimension.
  std::vector<int64_t> reshape;
  std::vector<int> dim_of_axis(num_axes());
  for (int axis = 0; axis < num_axes(); ++axis) {
    bool merge = false;
    for (int i = 1; i < order.size(); ++i) merge |= order[i] == axis && order[i - 1] == axis - 1;
    if (merge) {
      reshape.back() *= sizes_[axis];
    } else {
      reshape.push_back(sizes_[axis]);
    }
    dim_of_axis[axis] = static_cast<int>(reshape.size()) - 1;
  }
  std::vector<int> perm;
  for (const int axis : order) {
    if (perm.empty() || perm.back() != dim_of_axis[axis]) perm.push_back(dim_of_axis[axis]);
  }
  absl::StatusOr<DeviceOrder> iota = DeviceOrder::Iota(reshape, perm);
  TOROID_CHECK(iota.ok(), iota.status().message());
  if (order_.is_iota() && order_.reshape().size() == 1) {
    return HloSharding::Tiled(std::move(tiles), std::move(subgroups), *std::move(iota));
  }
  std::vector<int64_t> devices(num_devices_);
  for (int64_t i = 0; i < num_devices_; ++i) devices[i] = order_.DeviceAt(iota->DeviceAt(i));
  absl::StatusOr<DeviceOrder> explicit_order = DeviceOrder::Explicit(std::move(devices));
  TOROID_CHECK(explicit_order.ok(), explicit_order.status().message());
  return HloSharding::Tiled(std::move(tiles), std::move(subgroups), *std::move(explicit_order));
}

Dims Mesh::ShardDims(absl::Span<const int64_t> dims, const Sharding& sharding) const {
  Dims shard(dims.begin(), dims.end());
  for (size_t i = 0; i < sharding.dims.size() && i < shard.size(); ++i) {
    if (!sharding.dims[i].empty()) shard[i] = CeilOfRatio(dims[i], Product(sharding.dims[i]));
  }
  return shard;
}

std::string Mesh::ToString(const Sharding& sharding) const {
  const auto list = [](const AxisList& axes) {
    std::vector<int> numbers(axes.begin(), axes.end());
    return absl::StrCat("{", absl::StrJoin(numbers, ","), "}");
  };
  std::string out = "[";
  for (size_t i = 0; i < sharding.dims.size(); ++i)
    absl::StrAppend(&out, i > 0 ? ", " : "", list(sharding.dims[i]));
  out += "]";
  if (sharding.partial != 0) absl::StrAppend(&out, " partial ", list(InOrder(sharding.partial)));
  if (sharding.manual != 0) absl::StrAppend(&out, " manual ", list(InOrder(sharding.manual)));
  return out;
}

}  // namespace toroid
