// Appends instructions to a computation; infers shapes and checks constraints.
//
//   InstructionBuilder b(computation);
//   Value mean = b.Divide(b.Sum(x, {1}), b.FullLike(y, 32));
//
// For an op that would change nothing, the operand is returned: a convert to the same type, a reshape to the
// same sizes, a transpose, slice, pad or broadcast that moves nothing, a concatenation of one operand. (Op
// and Copy always add an instruction.) Bodies of loops and branches have builders of their own, which share
// errors and reducers:
//
//   InstructionBuilder body = b.InNewComputation("body");
//   ...
//   Value result = b.While(init, condition.Finish(more), body.Finish(next));
//
// Errors: status() keeps the first one; values returned after it are meaningless. A value may be used only in
// the computation it was made in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

using Value = Instruction*;

// State shared by the builders of one module.
struct BuilderState {
  explicit BuilderState(Module* module) : failed(module, "failed") {}

  absl::Status status;  // The first error.
  // The computations (a, b) -> opcode(a, b) on scalars, by opcode and type.
  absl::flat_hash_map<std::pair<int, int>, Computation*> reducers;
  Computation failed;  // Outside the module: holds the values of failed calls.
};

class InstructionBuilder {
 public:
  explicit InstructionBuilder(Computation* computation);
  InstructionBuilder(Computation* computation, std::shared_ptr<BuilderState> state);

  Computation* computation() const { return computation_; }
  Module* module() const { return computation_->module(); }
  const absl::Status& status() const { return state_->status; }

  // Metadata of the instructions added from here on; null for none.
  void set_metadata(const xla::OpMetadata* metadata) { metadata_ = metadata; }
  const xla::OpMetadata* metadata() const { return metadata_; }

  // A builder of a new computation of the same module.
  InstructionBuilder InNewComputation(std::string name) const;
  // Sets the root and returns the computation.
  Computation* Finish(Value root);

  // ---- Any op
  // `attrs` is filled by the caller. `shape` is checked against the inferred shape; it gives layouts, and
  // sizes that do not follow from the operands.
  Value Op(Opcode opcode, const Shape& shape, absl::Span<const Value> operands,
           const xla::HloInstructionProto* attrs = nullptr, absl::Span<Computation* const> called = {});
  // The op over other operands, with its attributes, called computations and metadata.
  Value Clone(const Instruction& instruction, const Shape& shape, absl::Span<const Value> operands);
  // Attributes for the caller to fill; they live as long as the module. WithDimensions: those of a transpose,
  // concatenate, ...
  xla::HloInstructionProto* NewAttrs() const { return module()->New<xla::HloInstructionProto>(); }
  xla::HloInstructionProto* WithDimensions(absl::Span<const int64_t> dimensions) const;

  // ---- Values
  Value Parameter(const Shape& shape, std::string name);
  Value Constant(const Literal& value);
  template <typename T>
  Value Scalar(T value) {
    return Constant(Literal::Scalar<T>(value));
  }
  // An integer as a scalar. Each builder makes one constant per value and type, without a source line.
  Value IntScalar(int64_t value, PrimitiveType type = xla::S32);
  Value Zero(PrimitiveType type) { return IntScalar(0, type); }
  // A scalar of the type, broadcast; `value` must be representable.
  Value Full(PrimitiveType type, absl::Span<const int64_t> dims, double value);
  Value Zeros(PrimitiveType type, absl::Span<const int64_t> dims) { return Full(type, dims, 0); }
  Value FullLike(Value like, double value);
  Value Iota(PrimitiveType type, absl::Span<const int64_t> dims, int64_t dimension);
  // u32[]: the partition id of the device that runs it.
  Value PartitionId() { return Op(Opcode::kPartitionId, Shape(xla::U32, {}), {}); }

  // ---- Elementwise
  Value Unary(Opcode opcode, Value x) { return Op(opcode, x->shape(), {x}); }
  Value Binary(Opcode opcode, Value a, Value b) { return Op(opcode, a->shape(), {a, b}); }
  Value Add(Value a, Value b) { return Binary(Opcode::kAdd, a, b); }
  Value Subtract(Value a, Value b) { return Binary(Opcode::kSubtract, a, b); }
  Value Multiply(Value a, Value b) { return Binary(Opcode::kMultiply, a, b); }
  Value Divide(Value a, Value b) { return Binary(Opcode::kDivide, a, b); }
  Value Maximum(Value a, Value b) { return Binary(Opcode::kMaximum, a, b); }
  Value Minimum(Value a, Value b) { return Binary(Opcode::kMinimum, a, b); }
  Value And(Value a, Value b) { return Binary(Opcode::kAnd, a, b); }
  Value Or(Value a, Value b) { return Binary(Opcode::kOr, a, b); }
  Value Not(Value x) { return Unary(Opcode::kNot, x); }
  Value Negate(Value x) { return Unary(Opcode::kNegate, x); }
  Value Exp(Value x) { return Unary(Opcode::kExp, x); }
  Value Log(Value x) { return Unary(Opcode::kLog, x); }
  Value Rsqrt(Value x) { return Unary(Opcode::kRsqrt, x); }
  Value Tanh(Value x) { return Unary(Opcode::kTanh, x); }
  // direction: EQ NE GE GT LE LT.
  Value Compare(Value a, Value b, absl::string_view direction);
  Value Select(Value predicate, Value on_true, Value on_false);
  Value Clamp(Value low, Value x, Value high) { return Op(Opcode::kClamp, x->shape(), {low, x, high}); }
  Value Convert(Value x, PrimitiveType type);
  // The op with `number`, broadcast to x's shape, as second operand.
  Value AddNumber(Value x, double number) { return Add(x, FullLike(x, number)); }
  Value MultiplyNumber(Value x, double number) { return Multiply(x, FullLike(x, number)); }

  // ---- Data movement
  // Operand dimension i becomes dimension dimensions[i] of an array of sizes `dims`.
  Value Broadcast(Value x, absl::Span<const int64_t> dims, absl::Span<const int64_t> dimensions = {});
  // The operand's dimensions become, in order, those of `dims` that are not in `new_dimensions`.
  Value BroadcastOver(Value x, absl::Span<const int64_t> dims, absl::Span<const int64_t> new_dimensions);
  Value Reshape(Value x, absl::Span<const int64_t> dims);
  Value Transpose(Value x, absl::Span<const int64_t> permutation);
  Value Reverse(Value x, absl::Span<const int64_t> dimensions);
  Value Concatenate(absl::Span<const Value> operands, int64_t dimension);
  Value Slice(Value x, absl::Span<const int64_t> starts, absl::Span<const int64_t> limits,
              absl::Span<const int64_t> strides = {});
  // x[start, limit) along one dimension.
  Value SliceAlong(Value x, int64_t dimension, int64_t start, int64_t limit);
  Value Pad(Value x, Value padding, absl::Span<const int64_t> low, absl::Span<const int64_t> high,
            absl::Span<const int64_t> interior = {});
  // Pads one dimension; with zeros if `padding` is null.
  Value PadAlong(Value x, int64_t dimension, int64_t low, int64_t high, Value padding = nullptr);
  Value Copy(Value x) { return Op(Opcode::kCopy, x->shape(), {x}); }
  // The array in row-major layout.
  Value ToRowMajor(Value x);
  // `x`, an array or tuple, in the layouts of `like`, which has the same structure. Arrays whose layout
  // differs are copied.
  Value ToLayout(Value x, const Shape& like);

  // ---- Indexing
  // One scalar start per dimension; starts are clamped.
  Value DynamicSlice(Value x, absl::Span<const Value> starts, absl::Span<const int64_t> sizes);
  // x[start, start + size) along one dimension.
  Value DynamicSliceAlong(Value x, int64_t dimension, Value start, int64_t size);
  Value DynamicUpdateSlice(Value x, Value update, absl::Span<const Value> starts);
  Value Gather(Value x, Value indices, const xla::GatherDimensionNumbers& numbers,
               absl::Span<const int64_t> slice_sizes);
  // table[indices[..], :]: rows of a matrix.
  Value GatherRows(Value table, Value indices);
  // `combiner`: (old, update) -> new on scalars.
  Value Scatter(Value x, Value indices, Value updates, const xla::ScatterDimensionNumbers& numbers,
                Computation* combiner);
  // Sorts arrays together along a dimension; `less`: (a0, b0, a1, b1, ..) -> pred compares one element of
  // each. The result is a tuple for more than one array.
  Value Sort(absl::Span<const Value> operands, int64_t dimension, Computation* less, bool is_stable);

  // ---- Contraction, reduction, windows
  Value Dot(Value lhs, Value rhs, const xla::DotDimensionNumbers& numbers);
  // See einsum.h.
  Value Einsum(absl::string_view equation, Value lhs, Value rhs);
  Value Convolution(Value lhs, Value rhs, const xla::Window& window,
                    const xla::ConvolutionDimensionNumbers& numbers, int64_t feature_group_count = 1,
                    int64_t batch_group_count = 1);
  // Folds with add, multiply, maximum, minimum, and, or, starting from the op's neutral element.
  Value Reduce(Opcode reducer, Value x, absl::Span<const int64_t> dimensions);
  // Folds n arrays together; the result is a tuple for more than one.
  Value Reduce(absl::Span<const Value> operands, absl::Span<const Value> inits,
               absl::Span<const int64_t> dimensions, Computation* reducer);
  Value Sum(Value x, absl::Span<const int64_t> dimensions) { return Reduce(Opcode::kAdd, x, dimensions); }
  Value Max(Value x, absl::Span<const int64_t> dimensions) { return Reduce(Opcode::kMaximum, x, dimensions); }
  Value ReduceWindow(Opcode reducer, Value x, const xla::Window& window);
  // Result at i: the fold of x[0 .. i] along the dimension.
  Value CumulativeReduce(Opcode reducer, Value x, int64_t dimension);
  // The computation (a, b) -> reducer(a, b) on scalars, one per module.
  Computation* ReducerComputation(Opcode reducer, PrimitiveType type);

  // ---- Tuples and control flow
  Value Tuple(absl::Span<const Value> elements);
  Value GetTupleElement(Value tuple, int64_t index);
  // The leaves of a tuple in order, by get-tuple-element; an array is its own leaf.
  std::vector<Value> Flatten(Value value);
  // The leaves as a value with the tuple structure of `shape`, whose arrays may have other dimensions.
  Value Unflatten(const Shape& shape, absl::Span<const Value> leaves);
  Value Call(Computation* callee, absl::Span<const Value> operands);
  // condition: (state) -> pred, body: (state) -> state.
  Value While(Value init, Computation* condition, Computation* body);
  // selector: pred (branch 0 if true) or s32; branch i gets operand i.
  Value Conditional(Value selector, absl::Span<const Value> operands,
                    absl::Span<Computation* const> branches);
  Value AfterAll(absl::Span<const Value> tokens) { return Op(Opcode::kAfterAll, Shape::Token(), tokens); }
  Value CustomCall(absl::string_view target, const Shape& shape, absl::Span<const Value> operands);

 protected:
  void Fail(const absl::Status& status);
  // The value of a failed op: outside the program, with the shape that the op should have had.
  Value Failed(const absl::Status& status, const Shape& shape);

 private:
  // Null, after Fail, if the reducer is not defined on the type.
  Value Neutral(Opcode reducer, const Shape& shape);

  Computation* computation_;
  std::shared_ptr<BuilderState> state_;
  const xla::OpMetadata* metadata_ = nullptr;
  absl::flat_hash_map<std::pair<int64_t, int>, Value> int_scalars_;
};

// `shape` with the layouts of `like`, whose arrays may have other sizes.
Shape WithLayoutOf(Shape shape, const Shape& like);

}  // namespace toroid
