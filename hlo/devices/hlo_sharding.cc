#include "hlo/devices/hlo_sharding.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/device_limit.h"

namespace toroid {
namespace {

absl::Status TooManyDevices() {
  return absl::InvalidArgumentError(absl::StrCat("sharding over more than ", kMaxDevices, " devices"));
}

absl::StatusOr<int64_t> CheckedProduct(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) {
    if (size < 1) return absl::InvalidArgumentError(absl::StrCat("sharding with a dimension of size ", size));
    const std::optional<int64_t> next = CheckedMultiply(product, size);
    if (!next || *next > kMaxDevices) return TooManyDevices();
    product = *next;
  }
  return product;
}

// One axis, or part of an axis, of a mesh: stride and size in row-major mesh positions.
struct MeshPart {
  int64_t size;
  int64_t stride;
};
using MeshParts = std::vector<MeshPart>;

absl::StatusOr<DeviceOrder> OrderOfMesh(const xla::MeshProto& mesh, int64_t n) {
  if (mesh.device_ids_size() > 0) {
    if (mesh.device_ids_size() != n)
      return absl::InvalidArgumentError("mesh device_ids do not list every device");
    return DeviceOrder::Explicit({mesh.device_ids().begin(), mesh.device_ids().end()});
  }
  if (mesh.has_iota_transform()) {
    const auto& iota = mesh.iota_transform();
    std::vector<int> perm(iota.transpose_perm().begin(), iota.transpose_perm().end());
    ASSIGN_OR_RETURN(
        DeviceOrder order,
        DeviceOrder::Iota({iota.reshape_dims().data(), static_cast<size_t>(iota.reshape_dims_size())}, perm));
    if (order.size() != n) return absl::InvalidArgumentError("mesh iota does not list every device");
    return order;
  }
  return DeviceOrder(n);
}

}  // namespace

absl::StatusOr<DeviceOrder> DeviceOrder::Iota(absl::Span<const int64_t> reshape, absl::Span<const int> perm) {
  DeviceOrder order;
  ASSIGN_OR_RETURN(order.size_, CheckedProduct(reshape));
  order.reshape_.assign(reshape.begin(), reshape.end());
  order.perm_.assign(perm.begin(), perm.end());
  if (perm.empty()) {
    for (size_t i = 0; i < reshape.size(); ++i) order.perm_.push_back(static_cast<int>(i));
  }
  std::vector<bool> seen(reshape.size(), false);
  if (order.perm_.size() != reshape.size())
    return absl::InvalidArgumentError("iota permutation of another rank");
  for (const int p : order.perm_) {
    if (p < 0 || p >= static_cast<int>(reshape.size()) || seen[p]) {
      return absl::InvalidArgumentError("iota transposition is no permutation");
    }
    seen[p] = true;
  }
  return order;
}

absl::StatusOr<DeviceOrder> DeviceOrder::Explicit(std::vector<int64_t> devices) {
  const int64_t n = static_cast<int64_t>(devices.size());
  if (n > kMaxDevices) return TooManyDevices();
  std::vector<int64_t> positions(n, -1);
  bool identity = true;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t device = devices[i];
    if (device < 0 || device >= n || positions[device] >= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("device ", device, " in a list of ", n, " is out of range or repeated"));
    }
    positions[device] = i;
    identity &= device == i;
  }
  DeviceOrder order(n);
  if (!identity) {
    order.devices_ = std::make_shared<const std::vector<int64_t>>(std::move(devices));
    order.positions_ = std::make_shared<const std::vector<int64_t>>(std::move(positions));
  }
  return order;
}

int64_t DeviceOrder::DeviceAt(int64_t position) const {
  if (devices_ != nullptr) return (*devices_)[position];
  if (reshape_.size() == 1) return position;
  int64_t device = 0;
  for (int k = static_cast<int>(perm_.size()) - 1; k >= 0; --k) {
    const int64_t size = reshape_[perm_[k]];
    int64_t stride = 1;
    for (size_t m = perm_[k] + 1; m < reshape_.size(); ++m) stride *= reshape_[m];
    device += position % size * stride;
    position /= size;
  }
  return device;
}

int64_t DeviceOrder::PositionOf(int64_t device) const {
  if (positions_ != nullptr) return (*positions_)[device];
  if (reshape_.size() == 1) return device;
  int64_t position = 0;
  for (const int p : perm_) {
    int64_t stride = 1;
    for (size_t m = p + 1; m < reshape_.size(); ++m) stride *= reshape_[m];
    position = position * reshape_[p] + device / stride % reshape_[p];
  }
  return position;
}

HloSharding HloSharding::Tiled(std::vector<int64_t> tiles, std::vector<Subgroup> subgroups,
                               DeviceOrder order) {
  HloSharding sharding;
  sharding.kind_ = Kind::kTiled;
  sharding.tiles_ = std::move(tiles);
  sharding.subgroups_ = std::move(subgroups);
  sharding.order_ = std::move(order);
  return sharding;
}

namespace {

// The parts that a list of axes names, in a mesh with axes of these sizes.
template <typename AxisRefs>
absl::StatusOr<MeshParts> PartsOf(const AxisRefs& refs, const std::vector<int64_t>& sizes) {
  MeshParts parts;
  for (const xla::AxisRefProto& ref : refs) {
    const int64_t axis = ref.mesh_axis_index();
    if (axis < 0 || axis >= static_cast<int64_t>(sizes.size())) {
      return absl::InvalidArgumentError("sharding names an axis its mesh lacks");
    }
    int64_t pre = 1, size = sizes[axis], stride = 1;
    if (ref.has_sub_axis_info()) {
      pre = ref.sub_axis_info().pre_size();
      size = ref.sub_axis_info().size();
      if (pre < 1 || size < 1 || pre > sizes[axis] || size > sizes[axis] || sizes[axis] % (pre * size) != 0) {
        return absl::InvalidArgumentError("sub-axis does not divide its axis");
      }
    }
    for (size_t minor = axis + 1; minor < sizes.size(); ++minor) stride *= sizes[minor];
    parts.push_back({size, stride * (sizes[axis] / (pre * size))});
  }
  return parts;
}

// Cuts the positions into dimensions, major to minor: every named part, and the gaps between them.
absl::StatusOr<MeshParts> CutAtParts(const std::vector<MeshParts>& named, int64_t n) {
  MeshParts parts;
  for (const MeshParts& group : named) parts.insert(parts.end(), group.begin(), group.end());
  std::sort(parts.begin(), parts.end(),
            [](const MeshPart& a, const MeshPart& b) { return a.stride > b.stride; });
  MeshParts cut;
  int64_t above = n;  // Stride of the part before.
  for (const MeshPart& part : parts) {
    if (part.size == 1) continue;
    const int64_t end = part.stride * part.size;
    if (end > above || above % end != 0) return absl::InvalidArgumentError("sharding uses a mesh axis twice");
    if (above != end) cut.push_back({above / end, end});
    cut.push_back(part);
    above = part.stride;
  }
  if (above > 1) cut.push_back({above, 1});
  return cut;
}

// Mesh form: parts of dimension 0, 1, ..., then manual, unreduced, and the remaining parts in mesh order.
absl::StatusOr<HloSharding> FromNamed(const xla::NamedShardingProto& proto) {
  const xla::MeshProto& mesh = proto.mesh();
  if (mesh.axes().empty()) {
    if (mesh.device_ids_size() != 1) return HloSharding::Replicated();
    xla::OpSharding maximal;
    maximal.set_type(xla::OpSharding::MAXIMAL);
    maximal.add_tile_assignment_devices(mesh.device_ids(0));
    return HloSharding::FromProto(maximal);
  }
  std::vector<int64_t> sizes;
  for (const auto& axis : mesh.axes()) sizes.push_back(axis.size());
  ASSIGN_OR_RETURN(const int64_t n, CheckedProduct(sizes));
  std::vector<MeshParts> named;  // By dimension of the array, then manual, then unreduced.
  for (const auto& dim : proto.dim_shardings()) {
    ASSIGN_OR_RETURN(named.emplace_back(), PartsOf(dim.axes(), sizes));
  }
  const size_t rank = named.size();
  ASSIGN_OR_RETURN(named.emplace_back(), PartsOf(proto.manual_axes(), sizes));
  ASSIGN_OR_RETURN(named.emplace_back(), PartsOf(proto.unreduced_axes(), sizes));
  ASSIGN_OR_RETURN(const MeshParts cut, CutAtParts(named, n));

  // The tile array lists the parts in the order in which they are named, the unnamed ones last.
  std::vector<bool> taken(cut.size(), false);
  std::vector<int> perm;
  std::vector<int64_t> products;
  for (const MeshParts& group : named) {
    int64_t product = 1;
    for (const MeshPart& part : group) {
      if (part.size == 1) continue;
      const auto at =
          std::find_if(cut.begin(), cut.end(), [&](const MeshPart& c) { return c.stride == part.stride; });
      perm.push_back(static_cast<int>(at - cut.begin()));
      taken[at - cut.begin()] = true;
      product *= part.size;
    }
    products.push_back(product);
  }
  std::vector<int64_t> reshape;
  int64_t rest = 1;
  for (size_t i = 0; i < cut.size(); ++i) {
    reshape.push_back(cut[i].size);
    if (taken[i]) continue;
    perm.push_back(static_cast<int>(i));
    rest *= cut[i].size;
  }
  if (products[rank] == n) return HloSharding::OfKind(HloSharding::Kind::kManual);
  if (products[rank + 1] == n) return HloSharding::OfKind(HloSharding::Kind::kUnreduced);
  if (rest == n) return HloSharding::Replicated();
  std::vector<int64_t> tiles(products.begin(), products.begin() + rank);
  std::vector<HloSharding::Subgroup> subgroups;
  if (products[rank] > 1) subgroups.push_back({xla::OpSharding::MANUAL, products[rank]});
  if (products[rank + 1] > 1) subgroups.push_back({xla::OpSharding::UNREDUCED, products[rank + 1]});
  if (rest > 1) subgroups.push_back({xla::OpSharding::REPLICATED, rest});
  ASSIGN_OR_RETURN(const DeviceOrder devices, OrderOfMesh(mesh, n));
  ASSIGN_OR_RETURN(DeviceOrder order, DeviceOrder::Iota(reshape, perm));
  if (!devices.is_iota() || devices.reshape().size() != 1) {
    std::vector<int64_t> list(n);
    for (int64_t i = 0; i < n; ++i) list[i] = devices.DeviceAt(order.DeviceAt(i));
    ASSIGN_OR_RETURN(order, DeviceOrder::Explicit(std::move(list)));
  }
  return HloSharding::Tiled(std::move(tiles), std::move(subgroups), std::move(order));
}

}  // namespace

absl::StatusOr<HloSharding> HloSharding::FromProto(const xla::OpSharding& proto) {
  if (proto.has_named_sharding()) return FromNamed(proto.named_sharding());
  HloSharding sharding;
  switch (proto.type()) {
    case xla::OpSharding::REPLICATED:
      return sharding;
    case xla::OpSharding::MANUAL:
      return OfKind(Kind::kManual);
    case xla::OpSharding::UNKNOWN:
      return OfKind(Kind::kUnknown);
    case xla::OpSharding::UNREDUCED:
      return OfKind(Kind::kUnreduced);
    case xla::OpSharding::MAXIMAL:
      if (proto.tile_assignment_devices_size() != 1 || proto.tile_assignment_devices(0) < 0) {
        return absl::InvalidArgumentError("maximal sharding does not name one device");
      }
      sharding.kind_ = Kind::kMaximal;
      sharding.maximal_device_ = proto.tile_assignment_devices(0);
      return sharding;
    case xla::OpSharding::OTHER:
      break;
    case xla::OpSharding::TUPLE:
      return absl::InvalidArgumentError("tuple sharding on an array");
    default:
      return absl::InvalidArgumentError(absl::StrCat("sharding of unknown type ", proto.type()));
  }
  std::vector<int64_t> dims(proto.tile_assignment_dimensions().begin(),
                            proto.tile_assignment_dimensions().end());
  ASSIGN_OR_RETURN(const int64_t n, CheckedProduct(dims));
  int subgroups = proto.replicate_on_last_tile_dim() ? 1 : proto.last_tile_dims_size();
  if (proto.replicate_on_last_tile_dim() && proto.last_tile_dims_size() > 0) {
    return absl::InvalidArgumentError("sharding with both last_tile_dim_replicate and last_tile_dims");
  }
  if (subgroups > static_cast<int>(dims.size())) {
    return absl::InvalidArgumentError("sharding with more subgroup dimensions than dimensions");
  }
  if (proto.iota_reshape_dims_size() > 0) {
    if (proto.tile_assignment_devices_size() > 0) {
      return absl::InvalidArgumentError("sharding with both an iota and a device list");
    }
    const std::vector<int> perm(proto.iota_transpose_perm().begin(), proto.iota_transpose_perm().end());
    ASSIGN_OR_RETURN(sharding.order_, DeviceOrder::Iota({proto.iota_reshape_dims().data(),
                                                         static_cast<size_t>(proto.iota_reshape_dims_size())},
                                                        perm));
  } else {
    ASSIGN_OR_RETURN(sharding.order_, DeviceOrder::Explicit({proto.tile_assignment_devices().begin(),
                                                             proto.tile_assignment_devices().end()}));
  }
  if (sharding.order_.size() != n) {
    return absl::InvalidArgumentError(
        absl::StrCat("tile assignment of ", n, " tiles lists ", sharding.order_.size(), " devices"));
  }
  sharding.tiles_.assign(dims.begin(), dims.end() - subgroups);
  for (int i = 0; i < subgroups; ++i) {
    const xla::OpSharding::Type type =
        proto.replicate_on_last_tile_dim() ? xla::OpSharding::REPLICATED : proto.last_tile_dims(i);
    if (type != xla::OpSharding::REPLICATED && type != xla::OpSharding::MANUAL &&
        type != xla::OpSharding::UNREDUCED) {
      return absl::InvalidArgumentError("subgroup dimensions are replicated, manual or unreduced");
    }
    sharding.subgroups_.push_back({type, dims[dims.size() - subgroups + i]});
  }
  sharding.kind_ = Kind::kTiled;
  if (n == 1) return HloSharding();
  // All devices are in subgroups of one type: a plain kind, not kTiled.
  const bool untiled =
      std::all_of(sharding.tiles_.begin(), sharding.tiles_.end(), [](int64_t t) { return t == 1; });
  if (untiled) {
    const Subgroup* only = nullptr;
    int kinds = 0;
    for (const Subgroup& subgroup : sharding.subgroups_) {
      if (subgroup.size > 1 && (only == nullptr || only->type != subgroup.type)) {
        only = &subgroup;
        ++kinds;
      }
    }
    if (kinds == 1) {
      return OfKind(only->type == xla::OpSharding::REPLICATED ? Kind::kReplicated
                    : only->type == xla::OpSharding::MANUAL   ? Kind::kManual
                                                              : Kind::kUnreduced);
    }
  }
  return sharding;
}

absl::StatusOr<std::vector<HloSharding>> HloSharding::LeavesFromProto(const xla::OpSharding& proto,
                                                                      const Shape& shape) {
  const int64_t leaves = shape.NumLeaves();
  std::vector<HloSharding> shardings;
  if (proto.type() != xla::OpSharding::TUPLE || proto.has_named_sharding()) {
    ASSIGN_OR_RETURN(HloSharding sharding, FromProto(proto));
    shardings.assign(leaves, sharding);
    return shardings;
  }
  if (leaves == 0) return shardings;
  if (proto.tuple_shardings_size() != leaves) {
    return absl::InvalidArgumentError(absl::StrCat("tuple sharding with ", proto.tuple_shardings_size(),
                                                   " entries for ", leaves, " leaves"));
  }
  for (const xla::OpSharding& element : proto.tuple_shardings()) {
    ASSIGN_OR_RETURN(HloSharding sharding, FromProto(element));
    shardings.push_back(std::move(sharding));
  }
  return shardings;
}

void HloSharding::ToProto(xla::OpSharding* proto) const {
  proto->Clear();
  switch (kind_) {
    case Kind::kReplicated:
      return;
    case Kind::kMaximal:
      proto->set_type(xla::OpSharding::MAXIMAL);
      proto->add_tile_assignment_dimensions(1);
      proto->add_tile_assignment_devices(maximal_device_);
      return;
    case Kind::kManual:
      proto->set_type(xla::OpSharding::MANUAL);
      return;
    case Kind::kUnreduced:
      proto->set_type(xla::OpSharding::UNREDUCED);
      return;
    case Kind::kUnknown:
      proto->set_type(xla::OpSharding::UNKNOWN);
      return;
    case Kind::kTiled:
      break;
  }
  proto->set_type(xla::OpSharding::OTHER);
  for (const int64_t tile : tiles_) proto->add_tile_assignment_dimensions(tile);
  for (const Subgroup& subgroup : subgroups_) proto->add_tile_assignment_dimensions(subgroup.size);
  if (subgroups_.size() == 1 && subgroups_[0].type == xla::OpSharding::REPLICATED) {
    proto->set_replicate_on_last_tile_dim(true);
  } else {
    for (const Subgroup& subgroup : subgroups_) proto->add_last_tile_dims(subgroup.type);
  }
  if (order_.is_iota()) {
    for (const int64_t size : order_.reshape()) proto->add_iota_reshape_dims(size);
    for (const int p : order_.perm()) proto->add_iota_transpose_perm(p);
  } else {
    for (int64_t i = 0; i < order_.size(); ++i) proto->add_tile_assignment_devices(order_.DeviceAt(i));
  }
}

absl::Status HloSharding::Validate(const Shape& shape) const {
  if (IsTiled() && static_cast<int>(tiles_.size()) != shape.rank()) {
    return absl::InvalidArgumentError(absl::StrCat("sharding ", ToString(), " has ", tiles_.size(),
                                                   " data dimensions, the array ", shape.ToString(), " has ",
                                                   shape.rank()));
  }
  return absl::OkStatus();
}

Dims HloSharding::ShardDims(absl::Span<const int64_t> dims) const {
  Dims shard(dims.begin(), dims.end());
  if (IsTiled()) {
    for (size_t i = 0; i < tiles_.size(); ++i) shard[i] = CeilOfRatio(dims[i], tiles_[i]);
  }
  return shard;
}

Dims HloSharding::TileIndex(int64_t device, int rank) const {
  Dims index(rank, 0);
  if (!IsTiled()) return index;
  int64_t position = order_.PositionOf(device);
  for (const Subgroup& subgroup : subgroups_) position /= subgroup.size;
  for (int i = rank - 1; i >= 0; --i) {
    index[i] = position % tiles_[i];
    position /= tiles_[i];
  }
  return index;
}

Dims HloSharding::TileOffset(absl::Span<const int64_t> dims, int64_t device) const {
  Dims offset = TileIndex(device, static_cast<int>(dims.size()));
  if (!IsTiled()) return offset;
  for (size_t i = 0; i < dims.size(); ++i) {
    offset[i] = std::min(offset[i] * CeilOfRatio(dims[i], tiles_[i]), dims[i]);
  }
  return offset;
}

std::string HloSharding::ToString() const {
  switch (kind_) {
    case Kind::kReplicated:
      return "{replicated}";
    case Kind::kMaximal:
      return absl::StrCat("{maximal device=", maximal_device_, "}");
    case Kind::kManual:
      return "{manual}";
    case Kind::kUnreduced:
      return "{unreduced}";
    case Kind::kUnknown:
      return "{unknown}";
    case Kind::kTiled:
      break;
  }
  std::vector<int64_t> dims = tiles_;
  for (const Subgroup& subgroup : subgroups_) dims.push_back(subgroup.size);
  std::string out = absl::StrCat("{devices=[", absl::StrJoin(dims, ","), "]");
  if (order_.is_iota()) {
    absl::StrAppend(&out, "<=[", absl::StrJoin(order_.reshape(), ","), "]");
    if (order_.perm().size() > 1) absl::StrAppend(&out, "T(", absl::StrJoin(order_.perm(), ","), ")");
  } else {
    for (int64_t i = 0; i < order_.size(); ++i) absl::StrAppend(&out, i > 0 ? "," : "", order_.DeviceAt(i));
  }
  if (subgroups_.size() == 1 && subgroups_[0].type == xla::OpSharding::REPLICATED) {
    out += " last_tile_dim_replicate";
  } else if (!subgroups_.empty()) {
    const auto name = [](std::string* s, const Subgroup& subgroup) {
      *s += subgroup.type == xla::OpSharding::REPLICATED ? "replicated"
            : subgroup.type == xla::OpSharding::MANUAL   ? "manual"
                                                         : "unreduced";
    };
    absl::StrAppend(&out, " last_tile_dims={", absl::StrJoin(subgroups_, ", ", name), "}");
  }
  return out + "}";
}

}  // namespace toroid
