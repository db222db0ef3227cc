#include "hlo/builder/instruction_builder.h"

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/builder/einsum.h"
#include "hlo/builder/neutral_element.h"
#include "hlo/ir/native_types.h"
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

bool HasDimension(const Shape& shape, int64_t dimension) {
  return dimension >= 0 && dimension < shape.rank();
}

// True for 0, 1, .. rank - 1.
bool IsIdentity(absl::Span<const int64_t> permutation, int rank) {
  if (static_cast<int>(permutation.size()) != rank) return false;
  for (int d = 0; d < rank; ++d) {
    if (permutation[d] != d) return false;
  }
  return true;
}

bool AllZero(absl::Span<const int64_t> values) {
  return absl::c_all_of(values, [](int64_t value) { return value == 0; });
}

}  // namespace

Shape WithLayoutOf(Shape shape, const Shape& like) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements(shape.tuple_shapes().begin(), shape.tuple_shapes().end());
    for (size_t i = 0; i < elements.size() && i < like.tuple_shapes().size(); ++i) {
      elements[i] = WithLayoutOf(std::move(elements[i]), like.tuple_shape(i));
    }
    return Shape::Tuple(std::move(elements));
  }
  if (like.custom_layout() != nullptr && like.rank() == shape.rank()) shape.set_layout(*like.custom_layout());
  return shape;
}

InstructionBuilder::InstructionBuilder(Computation* computation)
    : InstructionBuilder(computation, std::make_shared<BuilderState>(computation->module())) {}

InstructionBuilder::InstructionBuilder(Computation* computation, std::shared_ptr<BuilderState> state)
    : computation_(computation), state_(std::move(state)) {}

InstructionBuilder InstructionBuilder::InNewComputation(std::string name) const {
  InstructionBuilder inner(module()->AddComputation(std::move(name)), state_);
  inner.set_metadata(metadata_);
  return inner;
}

Computation* InstructionBuilder::Finish(Value root) {
  computation_->set_root(root);
  return computation_;
}

void InstructionBuilder::Fail(const absl::Status& status) {
  if (!state_->status.ok() || status.ok()) return;
  state_->status =
      metadata_ == nullptr
          ? status
          : toroid::Annotate(status, absl::StrCat(metadata_->op_name(), " (", metadata_->source_file(), ":",
                                                  metadata_->source_line(), ")"));
}

Value InstructionBuilder::Failed(const absl::Status& status, const Shape& shape) {
  Fail(status);
  return state_->failed.Add(Opcode::kParameter, shape);
}

Value InstructionBuilder::Op(Opcode opcode, const Shape& shape, absl::Span<const Value> operands,
                             const xla::HloInstructionProto* attrs, absl::Span<Computation* const> called) {
  if (!status().ok()) return Failed(status(), shape);
  Instruction* instruction = computation_->Add(opcode, shape, operands);
  if (attrs != nullptr) instruction->set_attrs(attrs);
  instruction->set_called(called);
  instruction->set_metadata(metadata_);
  absl::StatusOr<Shape> inferred = InferShape(*instruction);
  if (!inferred.ok()) return Failed(toroid::Annotate(inferred.status(), OpcodeName(opcode)), shape);
  if (!inferred->Compatible(shape)) instruction->mutable_shape() = *std::move(inferred);
  return instruction;
}

Value InstructionBuilder::Clone(const Instruction& instruction, const Shape& shape,
                                absl::Span<const Value> operands) {
  return computation_->AddClone(instruction, shape, operands);
}

xla::HloInstructionProto* InstructionBuilder::WithDimensions(absl::Span<const int64_t> dimensions) const {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->mutable_dimensions()->Add(dimensions.begin(), dimensions.end());
  return attrs;
}

// ---- Values

Value InstructionBuilder::Parameter(const Shape& shape, std::string name) {
  Value parameter = computation_->AddParameter(shape, std::move(name));
  parameter->set_metadata(metadata_);
  return parameter;
}

Value InstructionBuilder::Constant(const Literal& value) {
  Value constant = computation_->AddConstant(value);
  constant->set_metadata(metadata_);
  return constant;
}

Value InstructionBuilder::IntScalar(int64_t value, PrimitiveType type) {
  Value& cached = int_scalars_[{value, type}];
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
  return cached = computation_->AddConstant(literal);
}

Value InstructionBuilder::Full(PrimitiveType type, absl::Span<const int64_t> dims, double value) {
  return Broadcast(Constant(ScalarOf(type, value)), dims);
}

Value InstructionBuilder::FullLike(Value like, double value) {
  return Full(like->shape().element_type(), like->shape().dims(), value);
}

Value InstructionBuilder::Iota(PrimitiveType type, absl::Span<const int64_t> dims, int64_t dimension) {
  return Op(Opcode::kIota, Shape(type, dims), {}, WithDimensions({dimension}));
}

// ---- Elementwise

Value InstructionBuilder::Compare(Value a, Value b, absl::string_view direction) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->set_comparison_direction(std::string(direction));
  return Op(Opcode::kCompare, Shape(xla::PRED, a->shape().dims()), {a, b}, attrs);
}

Value InstructionBuilder::Select(Value predicate, Value on_true, Value on_false) {
  return Op(Opcode::kSelect, on_true->shape(), {predicate, on_true, on_false});
}

Value InstructionBuilder::Convert(Value x, PrimitiveType type) {
  if (x->shape().element_type() == type) return x;
  return Op(Opcode::kConvert, Shape(type, x->shape().dims()), {x});
}

// ---- Data movement

Value InstructionBuilder::Broadcast(Value x, absl::Span<const int64_t> dims,
                                    absl::Span<const int64_t> dimensions) {
  if (x->shape().dims() == dims && IsIdentity(dimensions, x->shape().rank())) return x;
  return Op(Opcode::kBroadcast, Shape(x->shape().element_type(), dims), {x},
            dimensions.empty() ? nullptr : WithDimensions(dimensions));
}

Value InstructionBuilder::BroadcastOver(Value x, absl::Span<const int64_t> dims,
                                        absl::Span<const int64_t> new_dimensions) {
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    if (!absl::c_linear_search(new_dimensions, d)) dimensions.push_back(d);
  }
  return Broadcast(x, dims, dimensions);
}

Value InstructionBuilder::Reshape(Value x, absl::Span<const int64_t> dims) {
  if (x->shape().dims() == dims) return x;
  return Op(Opcode::kReshape, Shape(x->shape().element_type(), dims), {x});
}

Value InstructionBuilder::Transpose(Value x, absl::Span<const int64_t> permutation) {
  if (IsIdentity(permutation, x->shape().rank())) return x;
  return Op(Opcode::kTranspose, x->shape(), {x}, WithDimensions(permutation));
}

Value InstructionBuilder::Reverse(Value x, absl::Span<const int64_t> dimensions) {
  if (dimensions.empty()) return x;
  return Op(Opcode::kReverse, x->shape(), {x}, WithDimensions(dimensions));
}

Value InstructionBuilder::Concatenate(absl::Span<const Value> operands, int64_t dimension) {
  if (operands.size() == 1 && HasDimension(operands[0]->shape(), dimension)) return operands[0];
  return Op(Opcode::kConcatenate, operands.empty() ? Shape() : operands[0]->shape(), operands,
            WithDimensions({dimension}));
}

Value InstructionBuilder::Slice(Value x, absl::Span<const int64_t> starts, absl::Span<const int64_t> limits,
                                absl::Span<const int64_t> strides) {
  if (limits.size() != starts.size() || (!strides.empty() && strides.size() != starts.size())) {
    return Failed(absl::InvalidArgumentError("slice: starts, limits and strides differ in number"),
                  x->shape());
  }
  if (AllZero(starts) && limits == x->shape().dims() &&
      absl::c_all_of(strides, [](int64_t s) { return s == 1; })) {
    return x;
  }
  xla::HloInstructionProto* attrs = NewAttrs();
  for (size_t i = 0; i < starts.size(); ++i) {
    auto* slice = attrs->add_slice_dimensions();
    slice->set_start(starts[i]);
    slice->set_limit(limits[i]);
    slice->set_stride(strides.empty() ? 1 : strides[i]);
  }
  return Op(Opcode::kSlice, x->shape(), {x}, attrs);
}

Value InstructionBuilder::SliceAlong(Value x, int64_t dimension, int64_t start, int64_t limit) {
  Dims starts(x->shape().rank(), 0), limits = AllDims(x->shape());
  if (!HasDimension(x->shape(), dimension)) {
    return Failed(absl::InvalidArgumentError(
                      absl::StrCat("slice of ", x->shape().ToString(), " along dimension ", dimension)),
                  x->shape());
  }
  starts[dimension] = start;
  limits[dimension] = limit;
  return Slice(x, starts, limits);
}

Value InstructionBuilder::Pad(Value x, Value padding, absl::Span<const int64_t> low,
                              absl::Span<const int64_t> high, absl::Span<const int64_t> interior) {
  if (low.size() != high.size() || (!interior.empty() && interior.size() != low.size())) {
    return Failed(absl::InvalidArgumentError("pad: low, high and interior differ in number"), x->shape());
  }
  if (static_cast<int>(low.size()) == x->shape().rank() && AllZero(low) && AllZero(high) && AllZero(interior))
    return x;
  xla::HloInstructionProto* attrs = NewAttrs();
  for (size_t i = 0; i < low.size(); ++i) {
    auto* dimension = attrs->mutable_padding_config()->add_dimensions();
    dimension->set_edge_padding_low(low[i]);
    dimension->set_edge_padding_high(high[i]);
    if (!interior.empty()) dimension->set_interior_padding(interior[i]);
  }
  return Op(Opcode::kPad, x->shape(), {x, padding}, attrs);
}

Value InstructionBuilder::PadAlong(Value x, int64_t dimension, int64_t low, int64_t high, Value padding) {
  if (!HasDimension(x->shape(), dimension)) {
    return Failed(absl::InvalidArgumentError(
                      absl::StrCat("pad of ", x->shape().ToString(), " along dimension ", dimension)),
                  x->shape());
  }
  if (low == 0 && high == 0) return x;
  if (padding == nullptr) padding = Zero(x->shape().element_type());
  Dims lows(x->shape().rank(), 0), highs(x->shape().rank(), 0);
  lows[dimension] = low;
  highs[dimension] = high;
  return Pad(x, padding, lows, highs);
}

Value InstructionBuilder::ToRowMajor(Value x) {
  return x->shape().HasRowMajorLayout() ? x : Op(Opcode::kCopy, x->shape().WithRowMajorLayout(), {x});
}

Value InstructionBuilder::ToLayout(Value x, const Shape& like) {
  const Shape wanted = WithLayoutOf(x->shape(), like);
  if (wanted == x->shape()) return x;
  if (!x->shape().IsTuple()) return Op(Opcode::kCopy, wanted, {x});
  std::vector<Value> elements;
  for (int i = 0; i < static_cast<int>(wanted.tuple_shapes().size()); ++i) {
    elements.push_back(ToLayout(GetTupleElement(x, i), wanted.tuple_shape(i)));
  }
  return Op(Opcode::kTuple, wanted, elements);
}

// ---- Indexing

Value InstructionBuilder::DynamicSlice(Value x, absl::Span<const Value> starts,
                                       absl::Span<const int64_t> sizes) {
  if (x->shape().dims() == sizes) return x;
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->mutable_dynamic_slice_sizes()->Add(sizes.begin(), sizes.end());
  std::vector<Value> operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Op(Opcode::kDynamicSlice, Shape(x->shape().element_type(), sizes), operands, attrs);
}

Value InstructionBuilder::DynamicSliceAlong(Value x, int64_t dimension, Value start, int64_t size) {
  if (!HasDimension(x->shape(), dimension)) {
    return Failed(absl::InvalidArgumentError(absl::StrCat("dynamic slice of ", x->shape().ToString(),
                                                          " along dimension ", dimension)),
                  x->shape());
  }
  if (size == x->shape().dim(dimension)) return x;
  Dims sizes = AllDims(x->shape());
  sizes[dimension] = size;
  std::vector<Value> starts(x->shape().rank(), start);
  if (starts.size() > 1) {
    const Value zero = Zero(start->shape().element_type());
    absl::c_fill(starts, zero);
    starts[dimension] = start;
  }
  return DynamicSlice(x, starts, sizes);
}

Value InstructionBuilder::DynamicUpdateSlice(Value x, Value update, absl::Span<const Value> starts) {
  std::vector<Value> operands = {x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Op(Opcode::kDynamicUpdateSlice, x->shape(), operands);
}

Value InstructionBuilder::Gather(Value x, Value indices, const xla::GatherDimensionNumbers& numbers,
                                 absl::Span<const int64_t> slice_sizes) {
  xla::HloInstructionProto* attrs = NewAttrs();
  *attrs->mutable_gather_dimension_numbers() = numbers;
  attrs->mutable_gather_slice_sizes()->Add(slice_sizes.begin(), slice_sizes.end());
  return Op(Opcode::kGather, Shape(x->shape().element_type(), {}), {x, indices}, attrs);
}

Value InstructionBuilder::GatherRows(Value table, Value indices) {
  if (table->shape().rank() != 2) {
    return Failed(absl::InvalidArgumentError(absl::StrCat("rows of ", table->shape().ToString())),
                  table->shape());
  }
  const int rank = indices->shape().rank();
  xla::GatherDimensionNumbers numbers;
  numbers.add_offset_dims(rank);
  numbers.add_collapsed_slice_dims(0);
  numbers.add_start_index_map(0);
  numbers.set_index_vector_dim(rank);
  return Gather(table, indices, numbers, {1, table->shape().dim(1)});
}

Value InstructionBuilder::Scatter(Value x, Value indices, Value updates,
                                  const xla::ScatterDimensionNumbers& numbers, Computation* combiner) {
  xla::HloInstructionProto* attrs = NewAttrs();
  *attrs->mutable_scatter_dimension_numbers() = numbers;
  return Op(Opcode::kScatter, x->shape(), {x, indices, updates}, attrs, {combiner});
}

Value InstructionBuilder::Sort(absl::Span<const Value> operands, int64_t dimension, Computation* less,
                               bool is_stable) {
  xla::HloInstructionProto* attrs = WithDimensions({dimension});
  attrs->set_is_stable(is_stable);
  return Op(Opcode::kSort, operands.empty() ? Shape() : operands[0]->shape(), operands, attrs, {less});
}

// ---- Contraction, reduction, windows

Value InstructionBuilder::Dot(Value lhs, Value rhs, const xla::DotDimensionNumbers& numbers) {
  xla::HloInstructionProto* attrs = NewAttrs();
  *attrs->mutable_dot_dimension_numbers() = numbers;
  return Op(Opcode::kDot, Shape(), {lhs, rhs}, attrs);
}

Value InstructionBuilder::Einsum(absl::string_view equation, Value lhs, Value rhs) {
  const absl::StatusOr<toroid::Einsum> einsum = ParseEinsum(equation, lhs->shape(), rhs->shape());
  if (einsum.ok()) {
    Value dot = Dot(lhs, rhs, einsum->numbers);
    if (status().ok()) return Transpose(dot, einsum->permutation);
  }
  // A failed value has a dimension for each letter of the result, since callers rely on the rank.
  const size_t arrow = equation.find("->");
  const size_t rank = arrow == absl::string_view::npos ? 0 : equation.size() - arrow - 2;
  return Failed(einsum.status(), Shape(lhs->shape().element_type(), std::vector<int64_t>(rank, 1)));
}

Value InstructionBuilder::Convolution(Value lhs, Value rhs, const xla::Window& window,
                                      const xla::ConvolutionDimensionNumbers& numbers,
                                      int64_t feature_group_count, int64_t batch_group_count) {
  xla::HloInstructionProto* attrs = NewAttrs();
  *attrs->mutable_window() = window;
  *attrs->mutable_convolution_dimension_numbers() = numbers;
  attrs->set_feature_group_count(feature_group_count);
  attrs->set_batch_group_count(batch_group_count);
  return Op(Opcode::kConvolution, Shape(), {lhs, rhs}, attrs);
}

Computation* InstructionBuilder::ReducerComputation(Opcode reducer, PrimitiveType type) {
  Computation*& computation = state_->reducers[{static_cast<int>(reducer), static_cast<int>(type)}];
  if (computation != nullptr) return computation;
  computation = module()->AddComputation(absl::StrCat(OpcodeName(reducer), ".", TypeName(type)));
  const Shape scalar(type, {});
  Instruction* a = computation->AddParameter(scalar, "a");
  Instruction* b = computation->AddParameter(scalar, "b");
  computation->set_root(computation->Add(reducer, scalar, {a, b}, "r"));
  return computation;
}

Value InstructionBuilder::Neutral(Opcode reducer, const Shape& shape) {
  const std::optional<Literal> neutral = NeutralElement(reducer, shape.element_type());
  if (neutral) return Constant(*neutral);
  Fail(absl::InvalidArgumentError(
      absl::StrCat("no reduction of ", TypeName(shape.element_type()), " with ", OpcodeName(reducer))));
  return nullptr;
}

Value InstructionBuilder::Reduce(Opcode reducer, Value x, absl::Span<const int64_t> dimensions) {
  const Value init = Neutral(reducer, x->shape());
  if (init == nullptr) return Failed(status(), x->shape());
  return Reduce({x}, {init}, dimensions, ReducerComputation(reducer, x->shape().element_type()));
}

Value InstructionBuilder::Reduce(absl::Span<const Value> operands, absl::Span<const Value> inits,
                                 absl::Span<const int64_t> dimensions, Computation* reducer) {
  std::vector<Value> all(operands.begin(), operands.end());
  all.insert(all.end(), inits.begin(), inits.end());
  return Op(Opcode::kReduce, Shape(), all, WithDimensions(dimensions), {reducer});
}

Value InstructionBuilder::ReduceWindow(Opcode reducer, Value x, const xla::Window& window) {
  const Value init = Neutral(reducer, x->shape());
  if (init == nullptr) return Failed(status(), x->shape());
  xla::HloInstructionProto* attrs = NewAttrs();
  *attrs->mutable_window() = window;
  return Op(Opcode::kReduceWindow, x->shape(), {x, init}, attrs,
            {ReducerComputation(reducer, x->shape().element_type())});
}

Value InstructionBuilder::CumulativeReduce(Opcode reducer, Value x, int64_t dimension) {
  if (!HasDimension(x->shape(), dimension)) {
    return Failed(absl::InvalidArgumentError(absl::StrCat("no cumulative ", OpcodeName(reducer), " of ",
                                                          x->shape().ToString(), " along ", dimension)),
                  x->shape());
  }
  xla::Window window;
  for (int d = 0; d < x->shape().rank(); ++d) {
    xla::WindowDimension* bounds = window.add_dimensions();
    const bool along = d == dimension && x->shape().dim(d) > 0;
    bounds->set_size(along ? x->shape().dim(d) : 1);
    bounds->set_padding_low(along ? x->shape().dim(d) - 1 : 0);
    bounds->set_stride(1);
    bounds->set_base_dilation(1);
    bounds->set_window_dilation(1);
  }
  return ReduceWindow(reducer, x, window);
}

// ---- Tuples and control flow

Value InstructionBuilder::Tuple(absl::Span<const Value> elements) {
  std::vector<Shape> shapes;
  for (const Value element : elements) shapes.push_back(element->shape());
  return Op(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
}

Value InstructionBuilder::GetTupleElement(Value tuple, int64_t index) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->set_tuple_index(index);
  const absl::Span<const Shape> elements = tuple->shape().tuple_shapes();
  const bool exists = index >= 0 && index < static_cast<int64_t>(elements.size());
  return Op(Opcode::kGetTupleElement, exists ? elements[index] : Shape(), {tuple}, attrs);
}

std::vector<Value> InstructionBuilder::Flatten(Value value) {
  if (!value->shape().IsTuple()) return {value};
  std::vector<Value> leaves;
  for (int64_t i = 0; i < static_cast<int64_t>(value->shape().tuple_shapes().size()); ++i) {
    for (const Value leaf : Flatten(GetTupleElement(value, i))) leaves.push_back(leaf);
  }
  return leaves;
}

namespace {

Value TakeLeaves(InstructionBuilder& b, const Shape& shape, absl::Span<const Value>* leaves) {
  if (!shape.IsTuple()) {
    const Value leaf = leaves->front();
    leaves->remove_prefix(1);
    return leaf;
  }
  std::vector<Value> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(TakeLeaves(b, element, leaves));
  return b.Tuple(elements);
}

}  // namespace

Value InstructionBuilder::Unflatten(const Shape& shape, absl::Span<const Value> leaves) {
  return TakeLeaves(*this, shape, &leaves);
}

Value InstructionBuilder::Call(Computation* callee, absl::Span<const Value> operands) {
  return Op(Opcode::kCall, callee->root()->shape(), operands, nullptr, {callee});
}

Value InstructionBuilder::While(Value init, Computation* condition, Computation* body) {
  return Op(Opcode::kWhile, init->shape(), {init}, nullptr, {body, condition});
}

Value InstructionBuilder::Conditional(Value selector, absl::Span<const Value> operands,
                                      absl::Span<Computation* const> branches) {
  std::vector<Value> all = {selector};
  all.insert(all.end(), operands.begin(), operands.end());
  return Op(Opcode::kConditional, branches.empty() ? Shape() : branches[0]->root()->shape(), all, nullptr,
            branches);
}

Value InstructionBuilder::CustomCall(absl::string_view target, const Shape& shape,
                                     absl::Span<const Value> operands) {
  xla::HloInstructionProto* attrs = NewAttrs();
  attrs->set_custom_call_target(std::string(target));
  attrs->set_custom_call_api_version(xla::API_VERSION_ORIGINAL);
  attrs->set_feature_group_count(1);
  attrs->set_batch_group_count(1);
  return Op(Opcode::kCustomCall, shape, operands, attrs);
}

}  // namespace toroid
