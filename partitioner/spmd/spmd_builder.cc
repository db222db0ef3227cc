#include "partitioner/spmd/spmd_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {

Shape SpmdBuilder::ShardShape(const Shape& shape, const Sharding& sharding) const {
  Shape local = shape;  // A buffer stays one.
  local.set_dims(ShardDims(shape.dims(), sharding));
  for (int d = 0; d < shape.rank(); ++d) local.set_dynamic(d, shape.IsDynamic(d));
  return local;
}

Shape WithLayoutOf(Shape shape, const Shape& like) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements(shape.tuple_shapes().begin(), shape.tuple_shapes().end());
    for (size_t i = 0; i < elements.size() && i < like.tuple_shapes().size(); ++i) {
      elements[i] = WithLayoutOf(std::move(elements[i]), like.tuple_shape(static_cast<int>(i)));
    }
    return Shape::Tuple(std::move(elements));
  }
  if (like.custom_layout() != nullptr && like.rank() == shape.rank()) shape.set_layout(*like.custom_layout());
  return shape;
}

Instruction* SpmdBuilder::Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands) {
  Instruction* instruction = computation_->Add(opcode, shape, operands);
  instruction->set_metadata(metadata_);
  return instruction;
}

Instruction* SpmdBuilder::Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                              xla::HloInstructionProto** attrs) {
  Instruction* instruction = computation_->Add(opcode, shape, operands, attrs);
  instruction->set_metadata(metadata_);
  return instruction;
}

int SpmdBuilder::Cause() {
  if (cause_ == 0 && serving_ != nullptr) {
    std::string name = name_;
    if (name.empty()) name = shared_->name_of ? shared_->name_of(*serving_) : serving_->name();
    if (name.empty()) name = std::string(serving_->opcode_name());
    cause_ = module()->AddCause(step_.empty() ? name : absl::StrCat(name, ": ", step_));
  }
  return cause_;
}

Instruction* SpmdBuilder::Clone(const Instruction& instruction, const Shape& shape,
                                absl::Span<Instruction* const> operands) {
  return computation_->AddClone(instruction, shape, operands);
}

Instruction* SpmdBuilder::Constant(const Literal& value) { return computation_->AddConstant(value); }

Instruction* SpmdBuilder::IntScalar(int64_t value, PrimitiveType type) {
  Instruction*& cached = int_scalars_[{value, type}];
  if (cached != nullptr) return cached;
  Literal literal = VisitArrayType(
      type,
      [&](auto tag) -> Literal {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
          return Literal::Scalar<T>(T(static_cast<typename T::value_type>(value)));
        } else {
          return Literal::Scalar<T>(T(value));
        }
      },
      Literal());
  return cached = Constant(literal);
}

Instruction* SpmdBuilder::Zero(PrimitiveType type) { return IntScalar(0, type); }

Instruction* SpmdBuilder::Binary(Opcode opcode, Instruction* a, Instruction* b) {
  return Add(opcode, a->shape(), {a, b});
}

Instruction* SpmdBuilder::Compare(Instruction* a, Instruction* b, const char* direction) {
  xla::HloInstructionProto* attrs;
  Instruction* compare = Add(Opcode::kCompare, Shape(xla::PRED, a->shape().dims()), {a, b}, &attrs);
  attrs->set_comparison_direction(direction);
  return compare;
}

Instruction* SpmdBuilder::Select(Instruction* predicate, Instruction* on_true, Instruction* on_false) {
  return Add(Opcode::kSelect, on_true->shape(), {predicate, on_true, on_false});
}

Instruction* SpmdBuilder::Convert(Instruction* x, PrimitiveType type) {
  if (x->shape().element_type() == type) return x;
  return Add(Opcode::kConvert, Shape(type, x->shape().dims()), {x});
}

Instruction* SpmdBuilder::Broadcast(Instruction* scalar, absl::Span<const int64_t> dims) {
  if (dims.empty()) return scalar;
  return Add(Opcode::kBroadcast, Shape(scalar->shape().element_type(), dims), {scalar});
}

Instruction* SpmdBuilder::Reshape(Instruction* x, absl::Span<const int64_t> dims) {
  if (x->shape().dims() == dims) return x;
  return Add(Opcode::kReshape, Shape(x->shape().element_type(), dims), {x});
}

Instruction* SpmdBuilder::Transpose(Instruction* x, absl::Span<const int64_t> permutation) {
  Dims dims;
  bool identity = true;
  for (size_t i = 0; i < permutation.size(); ++i) {
    dims.push_back(x->shape().dim(static_cast<int>(permutation[i])));
    identity &= permutation[i] == static_cast<int64_t>(i);
  }
  if (identity) return x;
  xla::HloInstructionProto* attrs;
  Instruction* transpose = Add(Opcode::kTranspose, Shape(x->shape().element_type(), dims), {x}, &attrs);
  attrs->mutable_dimensions()->Add(permutation.begin(), permutation.end());
  return transpose;
}

Instruction* SpmdBuilder::Slice(Instruction* x, int dim, int64_t start, int64_t limit) {
  if (start == 0 && limit == x->shape().dim(dim)) return x;
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims[dim] = limit - start;
  xla::HloInstructionProto* attrs;
  Instruction* slice = Add(Opcode::kSlice, Shape(x->shape().element_type(), dims), {x}, &attrs);
  for (int d = 0; d < x->shape().rank(); ++d) {
    auto* bounds = attrs->add_slice_dimensions();
    bounds->set_start(d == dim ? start : 0);
    bounds->set_limit(d == dim ? limit : x->shape().dim(d));
    bounds->set_stride(1);
  }
  return slice;
}

Instruction* SpmdBuilder::Pad(Instruction* x, int dim, int64_t low, int64_t high, Instruction* value) {
  if (low == 0 && high == 0) return x;
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims[dim] += low + high;
  if (value == nullptr) value = Zero(x->shape().element_type());
  xla::HloInstructionProto* attrs;
  Instruction* pad = Add(Opcode::kPad, Shape(x->shape().element_type(), dims), {x, value}, &attrs);
  for (int d = 0; d < x->shape().rank(); ++d) {
    auto* padding = attrs->mutable_padding_config()->add_dimensions();
    if (d != dim) continue;
    padding->set_edge_padding_low(low);
    padding->set_edge_padding_high(high);
  }
  return pad;
}

Instruction* SpmdBuilder::Concatenate(absl::Span<Instruction* const> pieces, int dim) {
  if (pieces.size() == 1) return pieces[0];
  Dims dims(pieces[0]->shape().dims().begin(), pieces[0]->shape().dims().end());
  dims[dim] = 0;
  for (const Instruction* piece : pieces) dims[dim] += piece->shape().dim(dim);
  xla::HloInstructionProto* attrs;
  Instruction* result =
      Add(Opcode::kConcatenate, Shape(pieces[0]->shape().element_type(), dims), pieces, &attrs);
  attrs->add_dimensions(dim);
  return result;
}

Instruction* SpmdBuilder::Iota(PrimitiveType type, absl::Span<const int64_t> dims, int dim) {
  xla::HloInstructionProto* attrs;
  Instruction* iota = Add(Opcode::kIota, Shape(type, dims), {}, &attrs);
  attrs->add_dimensions(dim);
  return iota;
}

Instruction* SpmdBuilder::DynamicSlice(Instruction* x, int dim, Instruction* start, int64_t size) {
  if (size == x->shape().dim(dim)) return x;
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims[dim] = size;
  std::vector<Instruction*> operands = {x};
  for (int d = 0; d < x->shape().rank(); ++d) {
    operands.push_back(d == dim ? start : IntScalar(0, start->shape().element_type()));
  }
  xla::HloInstructionProto* attrs;
  Instruction* slice = Add(Opcode::kDynamicSlice, Shape(x->shape().element_type(), dims), operands, &attrs);
  attrs->mutable_dynamic_slice_sizes()->Add(dims.begin(), dims.end());
  return slice;
}

Instruction* SpmdBuilder::Reduce(Instruction* x, Instruction* init, absl::Span<const int64_t> dims,
                                 Reducer reducer) {
  Dims kept;
  for (int d = 0; d < x->shape().rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) kept.push_back(x->shape().dim(d));
  }
  xla::HloInstructionProto* attrs;
  Instruction* reduce = Add(Opcode::kReduce, Shape(x->shape().element_type(), kept), {x, init}, &attrs);
  attrs->mutable_dimensions()->Add(dims.begin(), dims.end());
  Computation* called[] = {ReducerComputation(reducer, x->shape().element_type())};
  reduce->set_called(called);
  return reduce;
}

namespace {

void AppendLeaves(SpmdBuilder& b, Instruction* value, std::vector<Instruction*>* leaves) {
  if (!value->shape().IsTuple()) {
    leaves->push_back(value);
    return;
  }
  for (int i = 0; i < static_cast<int>(value->shape().tuple_shapes().size()); ++i) {
    AppendLeaves(b, b.Element(value, i), leaves);
  }
}

Instruction* TakeLeaves(SpmdBuilder& b, const Shape& shape, absl::Span<Instruction* const>* leaves) {
  if (!shape.IsTuple()) {
    Instruction* leaf = leaves->front();
    leaves->remove_prefix(1);
    return leaf;
  }
  std::vector<Instruction*> elements;
  std::vector<Shape> shapes;
  for (const Shape& element : shape.tuple_shapes()) {
    elements.push_back(TakeLeaves(b, element, leaves));
    shapes.push_back(elements.back()->shape());
  }
  return b.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
}

}  // namespace

Instruction* SpmdBuilder::Element(Instruction* tuple, int index) {
  xla::HloInstructionProto* attrs;
  Instruction* element = Add(Opcode::kGetTupleElement, tuple->shape().tuple_shape(index), {tuple}, &attrs);
  attrs->set_tuple_index(index);
  return element;
}

Instruction* SpmdBuilder::ToLayout(Instruction* x, const Shape& like) {
  const Shape wanted = WithLayoutOf(x->shape(), like);
  if (wanted == x->shape()) return x;
  if (!x->shape().IsTuple()) return Add(Opcode::kCopy, wanted, {x});
  std::vector<Instruction*> elements;
  for (int i = 0; i < static_cast<int>(wanted.tuple_shapes().size()); ++i) {
    elements.push_back(ToLayout(Element(x, i), wanted.tuple_shape(i)));
  }
  return Add(Opcode::kTuple, wanted, elements);
}

Instruction* SpmdBuilder::ToRowMajor(Instruction* x) {
  return x->shape().HasRowMajorLayout() ? x : Add(Opcode::kCopy, x->shape().WithRowMajorLayout(), {x});
}

std::vector<Instruction*> SpmdBuilder::TakeApart(Instruction* value) {
  std::vector<Instruction*> leaves;
  AppendLeaves(*this, value, &leaves);
  return leaves;
}

Instruction* SpmdBuilder::PutTogether(const Shape& shape, absl::Span<Instruction* const> leaves) {
  return TakeLeaves(*this, shape, &leaves);
}

Instruction* SpmdBuilder::Position() {
  if (position_ != nullptr) return position_;
  Instruction* id = Convert(Add(Opcode::kPartitionId, Shape(xla::U32, {}), {}), xla::S32);
  const DeviceOrder& order = mesh().order();
  if (order.is_iota() && order.reshape().size() == 1) return position_ = id;
  std::vector<int32_t> positions(order.size());
  for (int64_t device = 0; device < order.size(); ++device) {
    positions[device] = static_cast<int32_t>(order.PositionOf(device));
  }
  Instruction* table = Constant(Literal::Array<int32_t>({order.size()}, positions));
  return position_ = Reshape(DynamicSlice(table, 0, id, 1), {});
}

Instruction* SpmdBuilder::Coordinate(const AxisList& axes) {
  if (axes.empty()) return IntScalar(0);
  const auto it = coordinates_.find(axes);
  if (it != coordinates_.end()) return it->second;
  Instruction* coordinate = nullptr;
  for (int i = 0; i < axes.size();) {
    // Axes that follow one another in the mesh are one digit.
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

Instruction* SpmdBuilder::Linear(const AxisList& axes, int64_t scale, int64_t shift, PrimitiveType type) {
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

Computation* SpmdBuilder::ReducerComputation(Reducer reducer, PrimitiveType type) {
  Computation*& computation = shared_->reducers[{static_cast<int>(reducer), type}];
  if (computation != nullptr) return computation;
  const Opcode opcode = ReducerOpcode(reducer);
  computation = module()->AddComputation(absl::StrCat(OpcodeName(opcode), ".", TypeName(type)));
  const Shape scalar(type, {});
  Instruction* a = computation->AddParameter(scalar, "a");
  Instruction* b = computation->AddParameter(scalar, "b");
  computation->set_root(computation->Add(opcode, scalar, {a, b}, "r"));
  return computation;
}

// Groups in iota form where the device order is one: the mesh transposed so that the group's axes are minor.
const xla::HloInstructionProto* SpmdBuilder::CollectiveAttrs(MoveKind kind, const AxisList& axes, int dim) {
  std::string key = absl::StrCat(static_cast<int>(kind), "/", dim, "/");
  for (const int axis : axes) absl::StrAppend(&key, axis, ",");
  const xla::HloInstructionProto*& cached = shared_->collective_attrs[key];
  if (cached != nullptr) return cached;
  xla::HloInstructionProto* attrs = module()->New<xla::HloInstructionProto>();
  if (kind != MoveKind::kAllToAll) attrs->set_use_global_device_ids(true);
  if (dim >= 0) attrs->add_dimensions(dim);
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
    list->set_num_replica_groups(mesh().num_devices() / size);
    list->set_num_devices_per_group(size);
    for (const int64_t r : reshape) list->add_iota_reshape_dims(r);
    for (const int p : perm) list->add_iota_transpose_perm(p);
  } else {
    absl::StatusOr<DeviceOrder> iota = DeviceOrder::Iota(reshape, perm);
    TOROID_CHECK(iota.ok());
    auto* list = attrs->mutable_collective_device_list();
    for (int64_t i = 0; i < mesh().num_devices(); i += size) {
      auto* group = list->add_replica_groups();
      for (int64_t j = i; j < i + size; ++j) group->add_replica_ids(devices.DeviceAt(iota->DeviceAt(j)));
    }
  }
  return cached = attrs;
}

Instruction* SpmdBuilder::Collective(Opcode opcode, const Shape& shape, Instruction* x,
                                     const xla::HloInstructionProto* attrs) {
  Instruction* result = Add(opcode, shape, {x});
  result->set_attrs(attrs);
  result->MutableAttrs()->set_channel_id(++shared_->channel);
  result->set_cause(Cause());
  return result;
}

Instruction* SpmdBuilder::AllReduce(Instruction* x, const AxisList& axes, Reducer reducer) {
  Instruction* result =
      Collective(Opcode::kAllReduce, x->shape(), x, CollectiveAttrs(MoveKind::kAllReduce, axes, -1));
  Computation* called[] = {ReducerComputation(reducer, x->shape().element_type())};
  result->set_called(called);
  return result;
}

Instruction* SpmdBuilder::AllGather(Instruction* x, const AxisList& axes, int dim) {
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims[dim] *= mesh().Product(axes);
  Instruction* result = Collective(Opcode::kAllGather, Shape(x->shape().element_type(), dims), x,
                                   CollectiveAttrs(MoveKind::kAllGather, axes, dim));
  return result;
}

Instruction* SpmdBuilder::ReduceScatter(Instruction* x, const AxisList& axes, int dim, Reducer reducer) {
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims[dim] /= mesh().Product(axes);
  Instruction* result = Collective(Opcode::kReduceScatter, Shape(x->shape().element_type(), dims), x,
                                   CollectiveAttrs(MoveKind::kReduceScatter, axes, dim));
  Computation* called[] = {ReducerComputation(reducer, x->shape().element_type())};
  result->set_called(called);
  return result;
}

Instruction* SpmdBuilder::AllToAll(Instruction* x, const AxisList& axes, int dim) {
  return Collective(Opcode::kAllToAll, x->shape(), x, CollectiveAttrs(MoveKind::kAllToAll, axes, dim));
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
  Instruction* result = Collective(Opcode::kCollectivePermute, x->shape(), x, PermuteAttrs(pairs));
  return result;
}

Instruction* SpmdBuilder::CollectivePermute(Instruction* x, const std::string& key,
                                            absl::FunctionRef<const PositionPairs&()> pairs) {
  const xla::HloInstructionProto*& attrs = shared_->collective_attrs[key];
  if (attrs == nullptr) attrs = PermuteAttrs(pairs());
  Instruction* result = Collective(Opcode::kCollectivePermute, x->shape(), x, attrs);
  return result;
}

Instruction* SpmdBuilder::PermuteTiles(Instruction* x, const Sharding& from, const Sharding& to) {
  // Tile numbers of a position under both; whoever already has its tile keeps it, the others are matched in
  // order.
  const int64_t n = mesh().num_devices();
  const auto tile = [&](int64_t position, const Sharding& sharding) {
    int64_t index = 0;
    for (const AxisList& axes : sharding.dims) {
      index = index * mesh().Product(axes) + mesh().Coordinate(position, axes);
    }
    // Values differ between the members of a manual or partial group: they stay among themselves.
    const AxisList apart = mesh().InOrder(sharding.manual | sharding.partial);
    return index * mesh().Product(apart) + mesh().Coordinate(position, apart);
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

// position[k]: the mesh position of the k-th entry of the tile array (dims of `sharding`, then replicas in
// order).
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
