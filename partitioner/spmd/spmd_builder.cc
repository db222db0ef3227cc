#include "partitioner/spmd/spmd_builder.h"

#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/ir/edit.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {

Shape SpmdBuilder::ShardShape(const Shape& shape, const Sharding& sharding) const {
  Shape local = shape;  // Copied: a buffer's shape stays one of a buffer.
  local.set_dims(mesh().ShardDims(shape.dims(), sharding));
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

Computation* SpmdBuilder::CopyOf(const Computation* computation) {
  const auto known = shared_->copies.find(computation);
  if (known != shared_->copies.end()) return known->second;
  Computation* copy = module()->AddComputation(computation->name());
  const absl::StatusOr<std::vector<Instruction*>> map = CloneInstructions(
      *computation, [&](const Instruction& instruction, std::vector<Instruction*>* operands) {
        if (IsShardingAnnotation(instruction)) return operands->front();
        Instruction* clone = copy->AddClone(instruction, instruction.shape(), *operands);
        clone->set_name(instruction.name());
        CopyCalled(clone);
        return clone;
      });
  copy->set_root((*map)[computation->root()->index()]);
  TOROID_CHECK(copy->CollectParameters().ok());
  shared_->copies.emplace(computation, copy);
  return copy;
}

void SpmdBuilder::CopyCalled(Instruction* instruction) {
  ReplaceCalled(instruction, [this](const Computation* callee) { return CopyOf(callee); });
}

Instruction* SpmdBuilder::Position() {
  if (position_ != nullptr) return position_;
  Instruction* id = Convert(PartitionId(), xla::S32);
  if (IsInDeviceOrder(mesh())) return position_ = id;
  const DeviceOrder& order = mesh().order();
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
    if (stride > 1) digit = Divide(digit, IntScalar(stride));
    if (stride * size < mesh().num_devices()) digit = Binary(Opcode::kRemainder, digit, IntScalar(size));
    coordinate = coordinate == nullptr ? digit : Add(Multiply(coordinate, IntScalar(size)), digit);
    i = last + 1;
  }
  coordinates_.emplace(axes, coordinate);
  return coordinate;
}

Instruction* SpmdBuilder::Offset(const AxisList& axes, int64_t size, PrimitiveType type) {
  if (axes.empty() || size == 0) return IntScalar(0, type);
  Instruction* coordinate = Convert(Coordinate(axes), type);
  return size == 1 ? coordinate : Multiply(coordinate, IntScalar(size, type));
}

Instruction* SpmdBuilder::AffineOffset(const AxisList& axes, int64_t scale, int64_t shift,
                                       PrimitiveType type) {
  if (axes.empty() || scale == 0) return IntScalar(shift, type);
  Instruction* scaled = Offset(axes, scale, type);
  return shift == 0 ? scaled : Add(scaled, IntScalar(shift, type));
}

Instruction* SpmdBuilder::ToS64(Instruction* index) {
  if (index->shape().element_type() == xla::U64) {
    Instruction* top = Broadcast(IntScalar(INT64_MAX, xla::U64), index->shape().dims());
    index = Minimum(index, top);
  }
  return Convert(index, xla::S64);
}

Instruction* SpmdBuilder::ClampedStart(Instruction* index, int64_t size, int64_t window) {
  Instruction* wide = ToS64(index);
  const auto dims = index->shape().dims();
  wide = Maximum(wide, Broadcast(IntScalar(0, xla::S64), dims));
  return Minimum(wide, Broadcast(IntScalar(size - window, xla::S64), dims));
}

Instruction* SpmdBuilder::InRange(absl::Span<const int64_t> dims, int dim, Instruction* lo, Instruction* hi) {
  const PrimitiveType type = (lo != nullptr ? lo : hi)->shape().element_type();
  Instruction* index = Iota(type, dims, dim);
  Instruction* mask = nullptr;
  if (lo != nullptr) mask = Compare(index, Broadcast(lo, dims), "GE");
  if (hi != nullptr) {
    Instruction* below = Compare(index, Broadcast(hi, dims), "LT");
    mask = mask == nullptr ? below : And(mask, below);
  }
  return mask;
}

Instruction* SpmdBuilder::MaskPadding(Instruction* x, int dim, int64_t n, const AxisList& axes,
                                      Instruction* fill) {
  const int64_t tiles = mesh().Product(axes);
  const int64_t size = CeilOfRatio(n, tiles);
  if (size * tiles == n) return x;
  const PrimitiveType type = IndexType(size * tiles);
  Instruction* valid = Subtract(IntScalar(n, type), Offset(axes, size, type));
  Instruction* mask = InRange(x->shape().dims(), dim, nullptr, valid);
  return Select(mask, x, Broadcast(fill, x->shape().dims()));
}

// Groups name global device ids, and each replica has its own groups; the groups of an all-to-all, like the
// pairs of a permute, name partition ids.
const xla::HloInstructionProto* SpmdBuilder::CollectiveAttrs(Opcode opcode, const AxisList& axes, int dim) {
  const xla::HloInstructionProto*& cached =
      shared_->collective_attrs[{.opcode = opcode, .axes = axes, .wanted = {}, .numbers = {dim}}];
  if (cached != nullptr) return cached;
  xla::HloInstructionProto* attrs = module()->New<xla::HloInstructionProto>();
  if (opcode != Opcode::kAllToAll) attrs->set_use_global_device_ids(true);
  if (dim >= 0) attrs->add_dimensions(dim);
  SetGroups(mesh(), axes, attrs->use_global_device_ids() ? module()->config().replica_count : 1, attrs);
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
    SetGroupsFrom(mesh(), axes, member, made);
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
  if (IsInDeviceOrder(mesh())) {
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

// The groups are the mesh transposed so that the group's axes are minor.
void SetGroups(const Mesh& mesh, const AxisList& axes, int64_t replicas, xla::HloInstructionProto* attrs) {
  AxisList order = mesh.InOrder(mesh.AllAxes() & ~axes.Set());
  order.Append(axes);
  std::vector<int64_t> reshape;
  std::vector<int> dim_of_axis(mesh.num_axes());
  for (int axis = 0; axis < mesh.num_axes(); ++axis) {
    bool merge = false;
    for (int i = 1; i < order.size(); ++i) merge |= order[i] == axis && order[i - 1] == axis - 1;
    if (merge) {
      reshape.back() *= mesh.size(axis);
    } else {
      reshape.push_back(mesh.size(axis));
    }
    dim_of_axis[axis] = static_cast<int>(reshape.size()) - 1;
  }
  std::vector<int> perm;
  for (const int axis : order) {
    if (perm.empty() || perm.back() != dim_of_axis[axis]) perm.push_back(dim_of_axis[axis]);
  }
  const int64_t size = mesh.Product(axes), n = mesh.num_devices();
  if (IsInDeviceOrder(mesh)) {
    auto* list = attrs->mutable_iota_collective_device_list();
    list->set_num_replica_groups(replicas * n / size);
    list->set_num_devices_per_group(size);
    if (replicas > 1) {
      list->add_iota_reshape_dims(replicas);
      list->add_iota_transpose_perm(0);
    }
    for (const int64_t r : reshape) list->add_iota_reshape_dims(r);
    for (const int p : perm) list->add_iota_transpose_perm(p + (replicas > 1));
    return;
  }
  const absl::StatusOr<DeviceOrder> iota = DeviceOrder::Iota(reshape, perm);
  TOROID_CHECK(iota.ok());
  auto* list = attrs->mutable_collective_device_list();
  for (int64_t i = 0; i < replicas * n; i += size) {
    auto* group = list->add_replica_groups();
    for (int64_t j = i; j < i + size; ++j) {
      group->add_replica_ids(j / n * n + mesh.order().DeviceAt(iota->DeviceAt(j % n)));
    }
  }
}

void SetGroupsFrom(const Mesh& mesh, const AxisList& axes, int64_t member, xla::HloInstructionProto* attrs) {
  const std::vector<int64_t> at = mesh.Positions(axes);
  for (const int64_t other : mesh.Positions(mesh.InOrder(mesh.AllAxes() & ~axes.Set()))) {
    auto* group = attrs->mutable_collective_device_list()->add_replica_groups();
    for (size_t i = 0; i < at.size(); ++i) {
      group->add_replica_ids(
          mesh.order().DeviceAt(other + at[(static_cast<size_t>(member) + i) % at.size()]));
    }
  }
}

}  // namespace toroid
