#include "hlo/ir/builder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/neutral_element.h"
#include "hlo/ops/infer_shape.h"

namespace toroid {
namespace {

Literal ScalarOf(PrimitiveType type, double value) {
  Literal literal(Shape(type, {}));
  VisitArrayType(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        literal.mutable_data<T>()[0] = static_cast<T>(value);
        return 0;
      },
      0);
  return literal;
}

Dims AllDims(const Shape& shape) { return Dims(shape.dims().begin(), shape.dims().end()); }

// devices = 0 .. product-1 in the shape `reshape`, transposed by `permutation`, read as `tiles`.
xla::OpSharding IotaSharding(absl::Span<const int64_t> tiles, absl::Span<const int64_t> reshape,
                             absl::Span<const int64_t> permutation, bool replicate_last) {
  xla::OpSharding sharding;
  sharding.set_type(xla::OpSharding::OTHER);
  sharding.mutable_tile_assignment_dimensions()->Add(tiles.begin(), tiles.end());
  sharding.set_replicate_on_last_tile_dim(replicate_last);
  if (std::is_sorted(permutation.begin(), permutation.end())) {
    sharding.add_iota_reshape_dims(
        std::accumulate(tiles.begin(), tiles.end(), int64_t{1}, std::multiplies<>()));
    sharding.add_iota_transpose_perm(0);
  } else {
    sharding.mutable_iota_reshape_dims()->Add(reshape.begin(), reshape.end());
    for (const int64_t d : permutation) sharding.add_iota_transpose_perm(static_cast<int32_t>(d));
  }
  return sharding;
}

xla::OpSharding Manual() {
  xla::OpSharding sharding;
  sharding.set_type(xla::OpSharding::MANUAL);
  return sharding;
}

}  // namespace

xla::OpSharding SplitSharding(int rank, int64_t dimension, int64_t n, int64_t num_devices) {
  if (n == 1) return xla::OpSharding();
  std::vector<int64_t> tiles(rank, 1);
  tiles[dimension] = n;
  if (n == num_devices) return IotaSharding(tiles, {n}, {0}, /*replicate_last=*/false);
  tiles.push_back(num_devices / n);
  // Part i on devices i, i + n, ..: the major index of a device is which copy it is.
  return IotaSharding(tiles, {num_devices / n, n}, {1, 0}, /*replicate_last=*/true);
}

// ---- Frame
// ----------------------------------------------------------------------------------------------------

Builder::Builder(std::string name, int64_t num_devices)
    : module_(std::make_unique<Module>(std::move(name))),
      entry_(module_->AddComputation("main")),
      failed_(std::make_unique<Computation>(module_.get(), "failed")),
      num_devices_(num_devices) {
  if (num_devices < 1) Fail(absl::InvalidArgumentError(absl::StrCat(num_devices, " devices; at least 1")));
}

Builder::~Builder() = default;

absl::StatusOr<std::unique_ptr<Module>> Builder::Build(Value root) {
  RETURN_IF_ERROR(status_);
  entry_->set_root(root);
  // Reducers were added after the entry, which calls them.
  std::vector<Computation*> order;
  for (const auto& computation : module_->computations()) {
    if (computation.get() != entry_) order.push_back(computation.get());
  }
  order.push_back(entry_);
  module_->ReorderComputations(order);
  module_->set_entry(entry_);
  return std::move(module_);
}

Builder::Scope::Scope(Builder* builder, absl::string_view name, std::source_location where)
    : builder_(builder), outer_(builder->metadata_) {
  auto* metadata = builder->module_->New<xla::OpMetadata>();
  metadata->set_op_name(outer_ == nullptr ? std::string(name) : absl::StrCat(outer_->op_name(), "/", name));
  metadata->set_source_file(where.file_name());
  metadata->set_source_line(static_cast<int32_t>(where.line()));
  builder->metadata_ = metadata;
}

Builder::Scope::~Scope() { builder_->metadata_ = outer_; }

void Builder::Fail(const absl::Status& status) {
  if (!status_.ok() || status.ok()) return;
  status_ = metadata_ == nullptr
                ? status
                : toroid::Annotate(status, absl::StrCat(metadata_->op_name(), " (", metadata_->source_file(),
                                                        ":", metadata_->source_line(), ")"));
}

Value Builder::Failed(const absl::Status& status, const Shape& shape) {
  Fail(status);
  return failed_->Add(Opcode::kParameter, shape);
}

Value Builder::Infer(Opcode opcode, const Shape& hint, absl::Span<const Value> operands,
                     xla::HloInstructionProto* attrs, absl::Span<Computation* const> called) {
  if (!status_.ok()) return Failed(status_, hint);
  Instruction* instruction = entry_->Add(opcode, hint, operands);
  if (attrs != nullptr) instruction->set_attrs(attrs);
  instruction->set_called(called);
  instruction->set_metadata(metadata_);
  absl::StatusOr<Shape> shape = InferShape(*instruction);
  if (!shape.ok()) return Failed(toroid::Annotate(shape.status(), OpcodeName(opcode)), hint);
  instruction->mutable_shape() = *std::move(shape);
  return instruction;
}

Value Builder::Op(Opcode opcode, const Shape& shape, absl::Span<const Value> operands,
                  const xla::HloInstructionProto& attrs, absl::Span<Computation* const> called) {
  return Infer(opcode, shape, operands, module_->New(attrs), called);
}

// ---- Values
// ---------------------------------------------------------------------------------------------------

Value Builder::Parameter(const Shape& shape, std::string name) {
  Value parameter = entry_->AddParameter(shape, std::move(name));
  parameter->set_metadata(metadata_);
  return parameter;
}

Value Builder::Constant(const Literal& value) {
  Value constant = entry_->AddConstant(value);
  constant->set_metadata(metadata_);
  return constant;
}

Value Builder::Full(PrimitiveType type, absl::Span<const int64_t> dims, double value) {
  return Broadcast(Constant(ScalarOf(type, value)), dims, {});
}

Value Builder::FullLike(Value like, double value) {
  return Full(like->shape().element_type(), like->shape().dims(), value);
}

Value Builder::Iota(PrimitiveType type, absl::Span<const int64_t> dims, int64_t dimension) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->add_dimensions(dimension);
  return Infer(Opcode::kIota, Shape(type, dims), {}, attrs);
}

// ---- Elementwise
// ----------------------------------------------------------------------------------------------

Value Builder::Unary(Opcode opcode, Value x) { return Simple(opcode, x->shape(), {x}); }

Value Builder::Binary(Opcode opcode, Value a, Value b) { return Simple(opcode, a->shape(), {a, b}); }

Value Builder::Compare(Value a, Value b, absl::string_view direction) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->set_comparison_direction(std::string(direction));
  return Infer(Opcode::kCompare, Shape(xla::PRED, a->shape().dims()), {a, b}, attrs);
}

Value Builder::Select(Value predicate, Value on_true, Value on_false) {
  return Simple(Opcode::kSelect, on_true->shape(), {predicate, on_true, on_false});
}

Value Builder::Clamp(Value low, Value x, Value high) {
  return Simple(Opcode::kClamp, x->shape(), {low, x, high});
}

Value Builder::Convert(Value x, PrimitiveType type) {
  return Simple(Opcode::kConvert, Shape(type, x->shape().dims()), {x});
}

// ---- Data movement
// --------------------------------------------------------------------------------------------

Value Builder::Broadcast(Value x, absl::Span<const int64_t> dims, absl::Span<const int64_t> dimensions) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->mutable_dimensions()->Add(dimensions.begin(), dimensions.end());
  return Infer(Opcode::kBroadcast, Shape(x->shape().element_type(), dims), {x}, attrs);
}

Value Builder::Reshape(Value x, absl::Span<const int64_t> dims) {
  return Simple(Opcode::kReshape, Shape(x->shape().element_type(), dims), {x});
}

Value Builder::Transpose(Value x, absl::Span<const int64_t> permutation) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->mutable_dimensions()->Add(permutation.begin(), permutation.end());
  return Infer(Opcode::kTranspose, x->shape(), {x}, attrs);
}

Value Builder::Reverse(Value x, absl::Span<const int64_t> dimensions) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->mutable_dimensions()->Add(dimensions.begin(), dimensions.end());
  return Infer(Opcode::kReverse, x->shape(), {x}, attrs);
}

Value Builder::Concatenate(absl::Span<const Value> operands, int64_t dimension) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->add_dimensions(dimension);
  return Infer(Opcode::kConcatenate, operands.empty() ? Shape() : operands[0]->shape(), operands, attrs);
}

Value Builder::Slice(Value x, absl::Span<const int64_t> starts, absl::Span<const int64_t> limits,
                     absl::Span<const int64_t> strides) {
  xla::HloInstructionProto* attrs = NewAttrs();
  if (limits.size() != starts.size() || (!strides.empty() && strides.size() != starts.size())) {
    return Failed(absl::InvalidArgumentError("slice: starts, limits and strides differ in number"),
                  x->shape());
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    auto* slice = attrs->add_slice_dimensions();
    slice->set_start(starts[i]);
    slice->set_limit(limits[i]);
    slice->set_stride(strides.empty() ? 1 : strides[i]);
  }
  return Infer(Opcode::kSlice, x->shape(), {x}, attrs);
}

Value Builder::Pad(Value x, Value padding, absl::Span<const int64_t> low, absl::Span<const int64_t> high) {
  if (low.size() != high.size()) {
    return Failed(absl::InvalidArgumentError("pad: low and high differ in number"), x->shape());
  }
  xla::HloInstructionProto* attrs = NewAttrs();
  for (size_t i = 0; i < low.size(); ++i) {
    auto* dimension = attrs->mutable_padding_config()->add_dimensions();
    dimension->set_edge_padding_low(low[i]);
    dimension->set_edge_padding_high(high[i]);
  }
  return Infer(Opcode::kPad, x->shape(), {x, padding}, attrs);
}

Value Builder::GatherRows(Value table, Value indices) {
  if (table->shape().rank() != 2) {
    return Failed(absl::InvalidArgumentError(absl::StrCat("rows of ", table->shape().ToString())),
                  table->shape());
  }
  const int64_t width = table->shape().dim(1);
  const int rank = indices->shape().rank();
  xla::HloInstructionProto* attrs = NewAttrs();
  xla::GatherDimensionNumbers* numbers = attrs->mutable_gather_dimension_numbers();
  numbers->add_offset_dims(rank);
  numbers->add_collapsed_slice_dims(0);
  numbers->add_start_index_map(0);
  numbers->set_index_vector_dim(rank);
  attrs->add_gather_slice_sizes(1);
  attrs->add_gather_slice_sizes(width);
  Dims dims = AllDims(indices->shape());
  dims.push_back(width);
  return Infer(Opcode::kGather, Shape(table->shape().element_type(), dims), {table, indices}, attrs);
}

// ---- Contraction and reduction
// --------------------------------------------------------------------------------

Value Builder::Dot(Value lhs, Value rhs, const xla::DotDimensionNumbers& numbers) {
  xla::HloInstructionProto* attrs = NewAttrs();
  *attrs->mutable_dot_dimension_numbers() = numbers;
  return Infer(Opcode::kDot, Shape(), {lhs, rhs}, attrs);
}

Value Builder::Einsum(absl::string_view equation, Value lhs, Value rhs) {
  const std::vector<absl::string_view> sides = absl::StrSplit(equation, "->");
  const std::vector<absl::string_view> inputs = absl::StrSplit(sides[0], ',');
  const auto fail = [&](absl::string_view why) {
    return Failed(absl::InvalidArgumentError(absl::StrCat("einsum ", equation, ": ", why)), lhs->shape());
  };
  if (sides.size() != 2 || inputs.size() != 2) return fail("not of the form AB,BC->AC");
  const absl::string_view left = inputs[0], right = inputs[1], result = sides[1];
  const auto distinct = [](absl::string_view letters) {
    for (size_t i = 0; i < letters.size(); ++i) {
      if (letters.find(letters[i], i + 1) != absl::string_view::npos) return false;
    }
    return true;
  };
  if (!distinct(left) || !distinct(right) || !distinct(result)) return fail("a letter occurs twice");
  if (static_cast<int>(left.size()) != lhs->shape().rank() ||
      static_cast<int>(right.size()) != rhs->shape().rank()) {
    return fail(absl::StrCat("the operands are ", lhs->shape().ToString(), " and ", rhs->shape().ToString()));
  }
  xla::DotDimensionNumbers numbers;
  std::string produced;  // Letters of the dot's result.
  // Batch dimensions in the order of the result, so that transposes stay rare.
  for (const char c : result) {
    if (!absl::StrContains(left, c) && !absl::StrContains(right, c))
      return fail("the result has an unknown letter");
    if (!absl::StrContains(left, c) || !absl::StrContains(right, c)) continue;
    numbers.add_lhs_batch_dimensions(static_cast<int64_t>(left.find(c)));
    numbers.add_rhs_batch_dimensions(static_cast<int64_t>(right.find(c)));
    produced.push_back(c);
  }
  for (const char c : left) {
    if (absl::StrContains(result, c)) {
      if (!absl::StrContains(right, c)) produced.push_back(c);
    } else if (absl::StrContains(right, c)) {
      numbers.add_lhs_contracting_dimensions(static_cast<int64_t>(left.find(c)));
      numbers.add_rhs_contracting_dimensions(static_cast<int64_t>(right.find(c)));
    } else {
      return fail("a letter stands in one operand only; reduce it first");
    }
  }
  for (const char c : right) {
    if (absl::StrContains(left, c)) continue;
    if (!absl::StrContains(result, c)) return fail("a letter stands in one operand only; reduce it first");
    produced.push_back(c);
  }
  Value dot = Dot(lhs, rhs, numbers);
  if (produced == result || !status_.ok()) return dot;
  std::vector<int64_t> permutation;
  for (const char c : result) permutation.push_back(static_cast<int64_t>(produced.find(c)));
  return Transpose(dot, permutation);
}

Computation* Builder::ReducerComputation(Opcode reducer, PrimitiveType type) {
  Computation*& computation = reducers_[{static_cast<int>(reducer), static_cast<int>(type)}];
  if (computation != nullptr) return computation;
  computation = module_->AddComputation(absl::StrCat(OpcodeName(reducer), "_", TypeName(type)));
  const Shape scalar(type, {});
  Instruction* a = computation->AddParameter(scalar, "a");
  Instruction* b = computation->AddParameter(scalar, "b");
  computation->set_root(computation->Add(reducer, scalar, {a, b}, "result"));
  return computation;
}

Value Builder::Reduce(Opcode reducer, Value x, absl::Span<const int64_t> dimensions) {
  const PrimitiveType type = x->shape().element_type();
  const std::optional<Literal> neutral = NeutralElement(reducer, type);
  if (!neutral) {
    return Failed(absl::InvalidArgumentError(
                      absl::StrCat("no reduction of ", TypeName(type), " with ", OpcodeName(reducer))),
                  x->shape());
  }
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->mutable_dimensions()->Add(dimensions.begin(), dimensions.end());
  return Infer(Opcode::kReduce, x->shape(), {x, Constant(*neutral)}, attrs,
               {ReducerComputation(reducer, type)});
}

Value Builder::CumulativeReduce(Opcode reducer, Value x, int64_t dimension) {
  const PrimitiveType type = x->shape().element_type();
  const std::optional<Literal> neutral = NeutralElement(reducer, type);
  if (!neutral || dimension < 0 || dimension >= x->shape().rank()) {
    return Failed(absl::InvalidArgumentError(absl::StrCat("no cumulative ", OpcodeName(reducer), " of ",
                                                          x->shape().ToString(), " along ", dimension)),
                  x->shape());
  }
  xla::HloInstructionProto* attrs = NewAttrs();
  for (int d = 0; d < x->shape().rank(); ++d) {
    xla::WindowDimension* window = attrs->mutable_window()->add_dimensions();
    const bool along = d == dimension && x->shape().dim(d) > 0;
    window->set_size(along ? x->shape().dim(d) : 1);
    window->set_padding_low(along ? x->shape().dim(d) - 1 : 0);
    window->set_stride(1);
    window->set_base_dilation(1);
    window->set_window_dilation(1);
  }
  return Infer(Opcode::kReduceWindow, x->shape(), {x, Constant(*neutral)}, attrs,
               {ReducerComputation(reducer, type)});
}

// ---- Structure
// ------------------------------------------------------------------------------------------------

Value Builder::Tuple(absl::Span<const Value> elements) { return Simple(Opcode::kTuple, Shape(), elements); }

Value Builder::GetTupleElement(Value tuple, int64_t index) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->set_tuple_index(index);
  return Infer(Opcode::kGetTupleElement, Shape(), {tuple}, attrs);
}

// ---- Sharding annotations
// -------------------------------------------------------------------------------------

Value Builder::CustomCall(absl::string_view target, const Shape& shape, Value operand,
                          const xla::OpSharding& sharding) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->set_custom_call_target(std::string(target));
  attrs->set_custom_call_api_version(xla::API_VERSION_ORIGINAL);
  attrs->set_feature_group_count(1);
  attrs->set_batch_group_count(1);
  Value call = Infer(Opcode::kCustomCall, shape, {operand}, attrs);
  call->set_sharding(module_->New(sharding));
  return call;
}

Value Builder::Annotate(Value x, const xla::OpSharding& sharding) {
  if (x->opcode() != Opcode::kParameter) return CustomCall("Sharding", x->shape(), x, sharding);
  x->set_sharding(module_->New(sharding));
  return x;
}

Value Builder::Replicate(Value x) { return Annotate(x, xla::OpSharding()); }

Value Builder::Split(Value x, int64_t dimension, int64_t n) {
  if (dimension < 0 || dimension >= x->shape().rank() || n < 1 || num_devices_ % n != 0) {
    return Failed(absl::InvalidArgumentError(absl::StrCat(
                      "split of dimension ", dimension, " of ", x->shape().ToString(), " into ", n,
                      " parts on ", num_devices_, " devices; the parts must divide the devices")),
                  x->shape());
  }
  return Annotate(x, SplitSharding(x->shape().rank(), dimension, n, num_devices_));
}

Value Builder::Shard(Value x, const DeviceAssignment& assignment) {
  int64_t count = 1;
  bool valid = static_cast<int>(assignment.tiles.size()) == x->shape().rank();
  for (const int64_t tiles : assignment.tiles) {
    valid &= tiles >= 1 && tiles <= num_devices_;
    if (valid) count *= tiles;
    valid &= count <= num_devices_;
  }
  std::vector<int64_t> sorted = assignment.devices;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) valid &= sorted[i] == static_cast<int64_t>(i);
  if (!valid || count != num_devices_ || static_cast<int64_t>(sorted.size()) != count) {
    return Failed(absl::InvalidArgumentError(absl::StrCat("the device assignment of ", x->shape().ToString(),
                                                          " must have its rank and name each of ",
                                                          num_devices_, " devices once")),
                  x->shape());
  }
  xla::OpSharding sharding;
  sharding.set_type(xla::OpSharding::OTHER);
  sharding.mutable_tile_assignment_dimensions()->Add(assignment.tiles.begin(), assignment.tiles.end());
  sharding.mutable_tile_assignment_devices()->Add(assignment.devices.begin(), assignment.devices.end());
  return Annotate(x, sharding);
}

void Builder::SetMesh(NamedMesh mesh) {
  int64_t count = 1;
  for (const auto& [name, size] : mesh.axes) count = CheckedMultiply(count, size).value_or(0);
  if (count != num_devices_) {
    Fail(absl::InvalidArgumentError(absl::StrCat("a mesh of ", count, " devices on ", num_devices_)));
  }
  mesh_ = std::move(mesh);
}

Value Builder::Shard(Value x, const std::vector<AxisNames>& axes) {
  if (static_cast<int>(axes.size()) != x->shape().rank()) {
    return Failed(
        absl::InvalidArgumentError(absl::StrCat(axes.size(), " lists of axes for ", x->shape().ToString())),
        x->shape());
  }
  std::vector<int64_t> tiles, sizes, permutation;
  std::vector<bool> used(mesh_.axes.size(), false);
  for (const auto& [name, size] : mesh_.axes) sizes.push_back(size);
  for (const AxisNames& dimension : axes) {
    tiles.push_back(1);
    for (const std::string& name : dimension.names) {
      size_t i = 0;
      while (i < mesh_.axes.size() && mesh_.axes[i].first != name) ++i;
      if (i == mesh_.axes.size() || used[i]) {
        return Failed(absl::InvalidArgumentError(absl::StrCat("axis ", name, " is unknown or used twice")),
                      x->shape());
      }
      used[i] = true;
      tiles.back() *= sizes[i];
      permutation.push_back(static_cast<int64_t>(i));
    }
  }
  int64_t rest = 1;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    rest *= sizes[i];
    permutation.push_back(static_cast<int64_t>(i));
  }
  if (rest == num_devices_) return Replicate(x);
  if (rest > 1) tiles.push_back(rest);
  return Annotate(x, IotaSharding(tiles, sizes, permutation, /*replicate_last=*/rest > 1));
}

Value Builder::AutoToManual(Value x) {
  if (x->sharding() == nullptr || x->sharding()->tile_assignment_dimensions_size() < x->shape().rank()) {
    return Failed(
        absl::InvalidArgumentError("AutoToManual of a value without a tiled annotation; Split or Shard it"),
        x->shape());
  }
  Dims dims = AllDims(x->shape());
  for (size_t d = 0; d < dims.size(); ++d) {
    dims[d] = CeilOfRatio(dims[d], x->sharding()->tile_assignment_dimensions(static_cast<int>(d)));
  }
  Value annotated =
      x->opcode() == Opcode::kParameter ? CustomCall("Sharding", x->shape(), x, *x->sharding()) : x;
  return CustomCall("SPMDFullToShardShape", Shape(x->shape().element_type(), dims), annotated, Manual());
}

Value Builder::ManualToAuto(Value x, absl::Span<const int64_t> full) {
  std::vector<int64_t> tiles;
  int64_t count = 1;
  bool valid = static_cast<int>(full.size()) == x->shape().rank();
  for (size_t d = 0; valid && d < full.size(); ++d) {
    const int64_t local = x->shape().dim(static_cast<int>(d));
    valid = local > 0 ? full[d] >= local : full[d] == 0;
    if (!valid) break;
    tiles.push_back(local > 0 ? CeilOfRatio(full[d], local) : 1);
    count = CheckedMultiply(count, tiles.back()).value_or(-1);
    valid = count >= 1 && count <= num_devices_;
  }
  if (!valid || num_devices_ % count != 0) {
    return Failed(
        absl::InvalidArgumentError(absl::StrCat("ManualToAuto of ", x->shape().ToString(), " to [",
                                                absl::StrJoin(full, ","), "] on ", num_devices_, " devices")),
        x->shape());
  }
  if (count == 1) return ManualToAuto(x, full, xla::OpSharding());
  const int64_t copies = num_devices_ / count;
  if (copies == 1) return ManualToAuto(x, full, IotaSharding(tiles, {count}, {0}, false));
  tiles.push_back(copies);
  return ManualToAuto(x, full, IotaSharding(tiles, {copies, count}, {1, 0}, /*replicate_last=*/true));
}

Value Builder::ManualToAuto(Value x, absl::Span<const int64_t> full, const xla::OpSharding& sharding) {
  Value manual = CustomCall("Sharding", x->shape(), x, Manual());
  return CustomCall("SPMDShardToFullShape", Shape(x->shape().element_type(), full), manual, sharding);
}

}  // namespace toroid
