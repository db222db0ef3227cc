#include "partitioner/spmd/spmd_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/permute_pattern.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {

Shape SpmdBuilder::ShardShape(const Shape& shape, const Sharding& sharding) const {
  Shape local = shape;  // Copied: a buffer's shape stays one of a buffer.
  local.set_dims(ShardDims(shape.dims(), sharding));
  for (int d = 0; d < shape.rank(); ++d) local.set_dynamic(d, shape.IsDynamic(d));
  return local;
}

SpmdBuilder::SpmdBuilder(SpmdModule* shared, Computation* computation)
    : InstructionBuilder(computation,
                         shared->builders == nullptr
                             ? shared->builders = std::make_shared<BuilderState>(computation->module())
                             : shared->builders),
      shared_(shared) {}

int SpmdBuilder::Cause() {
  if (cause_ == 0 && source_ != nullptr) {
    std::string name = name_;
    if (name.empty()) name = shared_->name_of ? shared_->name_of(*source_) : source_->name();
    if (name.empty()) name = std::string(source_->opcode_name());
    cause_ = module()->AddCause(step_.empty() ? name : absl::StrCat(name, ": ", step_));
  }
  return cause_;
}

Instruction* SpmdBuilder::Position() {
  if (position_ != nullptr) return position_;
  Instruction* id = Convert(PartitionId(), xla::S32);
  const DeviceOrder& order = mesh().order();
  if (order.is_iota() && order.reshape().size() == 1) return position_ = id;
  std::vector<int32_t> positions(order.size());
  for (int64_t device = 0; device < order.size(); ++device) {
    positions[device] = static_cast<int32_t>(order.PositionOf(device));
  }
  Instruction* table = Constant(Literal::Array<int32_t>({order.size()}, positions));
  return position_ = Reshape(DynamicSliceAlong(table, 0, id, 1), {});
}

Instruction* SpmdBuilder::Coordinate(const AxisList& axes) {
  if (axes.empty()) return IntScalar(0);
  const auto it = coordinates_.find(axes);
  if (it != coordinates_.end()) return it->second;
  Instruction* coordinate = nullptr;
  for (int i = 0; i < axes.size();) {
    // Axes that are adjacent in the mesh give one digit of the coordinate.
    int64_t size = mesh().size(axes[i]);
    int last = i;
    while (last + 1 < axes.size() && axes[last + 1] == axes[last] + 1) size *= mesh().size(axes[++last]);
    const int64_t stride = mesh().stride(axes[last]);
    Instruction* digit = Position();
    if (stride > 1) digit = Binary(Opcode::kDivide, digit, IntScalar(stride));
    if (stride * size < mesh().num_devices()) digit = Binary(Opcode::kRemainder, digit, IntScalar(size));
    coordinate = coordinate == nullptr
                     ? digit
                     : Binary(Opcode::kAdd, Binary(Opcode::kMultiply, coordinate, IntScalar(size)), digit);
    i = last + 1;
  }
  coordinates_.emplace(axes, coordinate);
  return coordinate;
}

Instruction* SpmdBuilder::Offset(const AxisList& axes, int64_t size, PrimitiveType type) {
  if (axes.empty() || size == 0) return IntScalar(0, type);
  Instruction* coordinate = Convert(Coordinate(axes), type);
  return size == 1 ? coordinate : Binary(Opcode::kMultiply, coordinate, IntScalar(size, type));
}

Instruction* SpmdBuilder::AffineOffset(const AxisList& axes, int64_t scale, int64_t shift,
                                       PrimitiveType type) {
  if (axes.empty() || scale == 0) return IntScalar(shift, type);
  Instruction* scaled = Offset(axes, scale, type);
  return shift == 0 ? scaled : Binary(Opcode::kAdd, scaled, IntScalar(shift, type));
}

Instruction* SpmdBuilder::InRange(absl::Span<const int64_t> dims, int dim, Instruction* lo, Instruction* hi) {
  const PrimitiveType type = (lo != nullptr ? lo : hi)->shape().element_type();
  Instruction* index = Iota(type, dims, dim);
  Instruction* mask = nullptr;
  if (lo != nullptr) mask = Compare(index, Broadcast(lo, dims), "GE");
  if (hi != nullptr) {
    Instruction* below = Compare(index, Broadcast(hi, dims), "LT");
    mask = mask == nullptr ? below : Binary(Opcode::kAnd, mask, below);
  }
  return mask;
}

Instruction* SpmdBuilder::MaskPadding(Instruction* x, int dim, int64_t n, const AxisList& axes,
                                      Instruction* fill) {
  const int64_t tiles = mesh().Product(axes);
  const int64_t size = CeilOfRatio(n, tiles);
  if (size * tiles == n) return x;
  const PrimitiveType type = IndexType(size * tiles);
  Instruction* valid = Binary(Opcode::kSubtract, IntScalar(n, type), Offset(axes, size, type));
  Instruction* mask = InRange(x->shape().dims(), dim, nullptr, valid);
  return Select(mask, x, Broadcast(fill, x->shape().dims()));
}

// The groups are the mesh transposed so that the group's axes are minor: in iota form if devices are in mesh
// order, else listed. They name global device ids, and each replica has its own groups; the groups of an
// all-to-all, like the pairs of a permute, name partition ids.
const xla::HloInstructionProto* SpmdBuilder::CollectiveAttrs(Opcode opcode, const AxisList& axes, int dim) {
  const xla::HloInstructionProto*& cached =
      shared_->collective_attrs[{.opcode = opcode, .axes = axes, .wanted = {}, .numbers = {dim}}];
  if (cached != nullptr) return cached;
  xla::HloInstructionProto* attrs = module()->New<xla::HloInstructionProto>();
  if (opcode != Opcode::kAllToAll) attrs->set_use_global_device_ids(true);
  if (dim >= 0) attrs->add_dimensions(dim);
  const int64_t replicas = attrs->use_global_device_ids() ? module()->config().replica_count : 1;
  AxisList order = mesh().InOrder(mesh().AllAxes() & ~axes.Set());
  order.Append(axes);
  std::vector<int64_t> reshape;
  std::vector<int> dim_of_axis(mesh().num_axes());
  for (int axis = 0; axis < mesh().num_axes(); ++axis) {
    bool merge = false;
    for (int i = 1; i < order.size(); ++i) merge |= order[i] == axis && order[i - 1] == axis - 1;
    if (merge) {
      reshape.back() *= mesh().size(axis);
    } else {
      reshape.push_back(mesh().size(axis));
    }
    dim_of_axis[axis] = static_cast<int>(reshape.size()) - 1;
  }
  std::vector<int> perm;
  for (const int axis : order) {
    if (perm.empty() || perm.back() != dim_of_axis[axis]) perm.push_back(dim_of_axis[axis]);
  }
  const int64_t size = mesh().Product(axes);
  const DeviceOrder& devices = mesh().order();
  if (devices.is_iota() && devices.reshape().size() == 1) {
    auto* list = attrs->mutable_iota_collective_device_list();
    list->set_num_replica_groups(replicas * mesh().num_devices() / size);
    list->set_num_devices_per_group(size);
    if (replicas > 1) {
      list->add_iota_reshape_dims(replicas);
      list->add_iota_transpose_perm(0);
    }
    for (const int64_t r : reshape) list->add_iota_reshape_dims(r);
    for (const int p : perm) list->add_iota_transpose_perm(p + (replicas > 1));
  } else {
    absl::StatusOr<DeviceOrder> iota = DeviceOrder::Iota(reshape, perm);
    TOROID_CHECK(iota.ok());
    auto* list = attrs->mutable_collective_device_list();
    const int64_t n = mesh().num_devices();
    for (int64_t i = 0; i < replicas * n; i += size) {
      auto* group = list->add_replica_groups();
      for (int64_t j = i; j < i + size; ++j) {
        group->add_replica_ids(j / n * n + devices.DeviceAt(iota->DeviceAt(j % n)));
      }
    }
  }
  return cached = attrs;
}

Instruction* SpmdBuilder::Collective(Opcode opcode, const Shape& shape, Instruction* x,
                                     const xla::HloInstructionProto* attrs, std::optional<Reducer> reducer) {
  std::vector<Computation*> called;
  if (reducer) called.push_back(ReducerComputation(ReducerOpcode(*reducer), x->shape().element_type()));
  xla::HloInstructionProto* own = module()->New(*attrs);
  own->set_channel_id(++shared_->channel);
  Instruction* result = Op(opcode, shape, {x}, own, called);
  result->set_cause(Cause());
  return result;
}

Instruction* SpmdBuilder::AllReduce(Instruction* x, const AxisList& axes, Reducer reducer) {
  return Collective(Opcode::kAllReduce, x->shape(), x, CollectiveAttrs(Opcode::kAllReduce, axes, -1),
                    reducer);
}

Instruction* SpmdBuilder::AllGather(Instruction* x, const AxisList& axes, int dim) {
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims[dim] *= mesh().Product(axes);
  return Collective(Opcode::kAllGather, Shape(x->shape().element_type(), dims), x,
                    CollectiveAttrs(Opcode::kAllGather, axes, dim));
}

Instruction* SpmdBuilder::ReduceScatter(Instruction* x, const AxisList& axes, int dim, Reducer reducer) {
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims[dim] /= mesh().Product(axes);
  return Collective(Opcode::kReduceScatter, Shape(x->shape().element_type(), dims), x,
                    CollectiveAttrs(Opcode::kReduceScatter, axes, dim), reducer);
}

Instruction* SpmdBuilder::AllToAll(Instruction* x, const AxisList& axes, int dim) {
  return Collective(Opcode::kAllToAll, x->shape(), x, CollectiveAttrs(Opcode::kAllToAll, axes, dim));
}

Instruction* SpmdBuilder::BroadcastFrom(Instruction* x, const AxisList& axes, int64_t member) {
  const xla::HloInstructionProto*& attrs = shared_->collective_attrs[{
      .opcode = Opcode::kCollectiveBroadcast, .axes = axes, .wanted = {}, .numbers = {member}}];
  if (attrs == nullptr) {
    // All members of a group get the value of its first member.
    auto* made = module()->New<xla::HloInstructionProto>();
    auto* list = made->mutable_collective_device_list();
    const std::vector<int64_t> at = mesh().Positions(axes);
    for (const int64_t other : mesh().Positions(mesh().InOrder(mesh().AllAxes() & ~axes.Set()))) {
      auto* group = list->add_replica_groups();
      for (size_t i = 0; i < at.size(); ++i) {
        group->add_replica_ids(
            mesh().order().DeviceAt(other + at[(static_cast<size_t>(member) + i) % at.size()]));
      }
    }
    attrs = made;
  }
  return Collective(Opcode::kCollectiveBroadcast, x->shape(), x, attrs);
}

const xla::HloInstructionProto* SpmdBuilder::PermuteAttrs(const PositionPairs& pairs) {
  xla::HloInstructionProto* attrs = module()->New<xla::HloInstructionProto>();
  attrs->mutable_source_target_pairs()->Reserve(static_cast<int>(pairs.size()));
  for (const auto& [source, target] : pairs) {
    auto* pair = attrs->add_source_target_pairs();
    pair->set_source(mesh().order().DeviceAt(source));
    pair->set_target(mesh().order().DeviceAt(target));
  }
  return attrs;
}

Instruction* SpmdBuilder::CollectivePermute(Instruction* x, const PositionPairs& pairs) {
  return Collective(Opcode::kCollectivePermute, x->shape(), x, PermuteAttrs(pairs));
}

// If position p of the mesh is device p, the pattern is used as given. Other device orders have no strides,
// so the pairs are listed.
const xla::HloInstructionProto* SpmdBuilder::PermuteAttrs(xla::PermutePattern pattern) {
  const DeviceOrder& order = mesh().order();
  if (order.is_iota() && order.reshape().size() == 1) {
    xla::HloInstructionProto* attrs = module()->New<xla::HloInstructionProto>();
    *attrs->mutable_permute_pattern() = std::move(pattern);
    return attrs;
  }
  PositionPairs pairs;
  ForEachPair(pattern, [&](int64_t source, int64_t target) { pairs.emplace_back(source, target); });
  return PermuteAttrs(pairs);
}

Instruction* SpmdBuilder::CollectivePermute(Instruction* x, const xla::PermutePattern& pattern) {
  return Collective(Opcode::kCollectivePermute, x->shape(), x, PermuteAttrs(pattern));
}

Instruction* SpmdBuilder::CollectivePermute(Instruction* x, const CollectiveKey& key,
                                            absl::FunctionRef<xla::PermutePattern()> pattern) {
  const xla::HloInstructionProto*& attrs = shared_->collective_attrs[key];
  if (attrs == nullptr) attrs = PermuteAttrs(pattern());
  Instruction* permute = Collective(Opcode::kCollectivePermute, x->shape(), x, attrs);
  shared_->halo_permutes.insert(permute);
  return permute;
}

Instruction* SpmdBuilder::CutTile(Instruction* x, int dim, const AxisList& axes, int64_t rows) {
  const int64_t all = mesh().Product(axes) * rows;
  Instruction* padded = PadAlong(x, dim, 0, all - x->shape().dim(dim));
  Instruction* tile = DynamicSliceAlong(padded, dim, Offset(axes, rows, IndexType(all)), rows);
  if (tile != x) NoteCut(tile, {x, dim, axes});
  return tile;
}

const SpmdModule::Cut* SpmdBuilder::CutOf(Instruction* x) const {
  const auto it = shared_->cuts.find(x);
  return it == shared_->cuts.end() ? nullptr : &it->second;
}

Instruction* SpmdBuilder::BeforeCut(Instruction* x, int dim, AxisList* axes) {
  if (CutOf(x) == nullptr) return nullptr;
  const SpmdModule::Cut cut = *CutOf(x);  // A copy, because CutTile adds to the map.
  const int kept = axes->size() - cut.axes.size();
  if (cut.dim != dim) {
    Instruction* before = BeforeCut(cut.whole, dim, axes);
    return before == nullptr ? nullptr : CutTile(before, cut.dim, cut.axes, x->shape().dim(cut.dim));
  }
  if (kept < 0 || axes->Suffix(kept) != cut.axes) return nullptr;
  *axes = axes->Prefix(kept);
  Instruction* before = BeforeCut(cut.whole, dim, axes);
  return before == nullptr ? cut.whole : before;
}

xla::PermutePattern SpmdBuilder::PatternAlong(const AxisList& axes) const {
  xla::PermutePattern pattern;
  const auto add = [&](const AxisList& list, auto* sizes, auto* strides) {
    for (int i = 0; i < list.size(); ++i) {
      if (i > 0 && list[i] == list[i - 1] + 1) {
        *sizes->rbegin() *= mesh().size(list[i]);
        *strides->rbegin() = mesh().stride(list[i]);
      } else {
        sizes->Add(mesh().size(list[i]));
        strides->Add(mesh().stride(list[i]));
      }
    }
  };
  add(axes, pattern.mutable_sizes(), pattern.mutable_source_strides());
  *pattern.mutable_target_strides() = pattern.source_strides();
  add(mesh().InOrder(mesh().AllAxes() & ~axes.Set()), pattern.mutable_shared_sizes(),
      pattern.mutable_shared_strides());
  return pattern;
}

namespace {

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

}  // namespace

Instruction* SpmdBuilder::PermuteTiles(Instruction* x, const Sharding& from, const Sharding& to) {
  // The members of a manual or partial group hold different values, so a tile keeps its coordinates along
  // those axes.
  const auto apart = [&](const Sharding& sharding) {
    return mesh().InOrder(sharding.manual | sharding.partial);
  };
  const auto axes_of = [&](const Sharding& sharding) {
    AxisList all;
    for (const AxisList& axes : sharding.dims) all.Append(axes);
    all.Append(apart(sharding));
    return all;
  };
  if (axes_of(from) == axes_of(to)) return x;
  if (const auto pattern = PatternOfTiles(mesh(), axes_of(from), axes_of(to)))
    return CollectivePermute(x, *pattern);
  // Compares the tile numbers of each position under both shardings. A device that already holds its tile
  // keeps it; the other devices are matched with sources in order.
  const int64_t n = mesh().num_devices();
  const auto tile = [&](int64_t position, const Sharding& sharding) {
    int64_t index = 0;
    for (const AxisList& axes : sharding.dims) {
      index = index * mesh().Product(axes) + mesh().Coordinate(position, axes);
    }
    return index * mesh().Product(apart(sharding)) + mesh().Coordinate(position, apart(sharding));
  };
  absl::flat_hash_map<int64_t, std::vector<int64_t>> sources;
  PositionPairs pairs;
  std::vector<int64_t> waiting;
  bool moves = false;
  for (int64_t p = 0; p < n; ++p) {
    if (tile(p, from) == tile(p, to)) {
      pairs.emplace_back(p, p);
    } else {
      sources[tile(p, from)].push_back(p);
      waiting.push_back(p);
      moves = true;
    }
  }
  if (!moves) return x;
  for (auto& [index, list] : sources) std::reverse(list.begin(), list.end());
  for (const int64_t p : waiting) {
    std::vector<int64_t>& list = sources[tile(p, to)];
    TOROID_CHECK(!list.empty(), "no source for position ", p);
    pairs.emplace_back(list.back(), p);
    list.pop_back();
  }
  std::sort(pairs.begin(), pairs.end());
  return CollectivePermute(x, pairs);
}

namespace {

// positions[k]: the mesh position that holds entry k of the tile array (the dims of `sharding`, then the
// replicas in mesh order).
std::vector<int64_t> PositionsOfTiles(const Mesh& mesh, const Sharding& sharding) {
  AxisList order;
  for (const AxisList& dim : sharding.dims) order.Append(dim);
  order.Append(mesh.InOrder(mesh.AllAxes() & ~order.Set()));
  std::vector<int64_t> positions(mesh.num_devices());
  for (int64_t p = 0; p < mesh.num_devices(); ++p) positions[mesh.Coordinate(p, order)] = p;
  return positions;
}

}  // namespace

Instruction* SpmdBuilder::FromDeviceOrder(Instruction* x, const DeviceOrder& order,
                                          const Sharding& sharding) {
  const std::vector<int64_t> positions = PositionsOfTiles(mesh(), sharding);
  PositionPairs pairs;
  for (int64_t k = 0; k < mesh().num_devices(); ++k) {
    pairs.emplace_back(mesh().order().PositionOf(order.DeviceAt(k)), positions[k]);
  }
  std::sort(pairs.begin(), pairs.end());
  return CollectivePermute(x, pairs);
}

Instruction* SpmdBuilder::ToDeviceOrder(Instruction* x, const DeviceOrder& order, const Sharding& sharding) {
  const std::vector<int64_t> positions = PositionsOfTiles(mesh(), sharding);
  PositionPairs pairs;
  for (int64_t k = 0; k < mesh().num_devices(); ++k) {
    pairs.emplace_back(positions[k], mesh().order().PositionOf(order.DeviceAt(k)));
  }
  std::sort(pairs.begin(), pairs.end());
  return CollectivePermute(x, pairs);
}

}  // namespace toroid
