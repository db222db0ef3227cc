// Builds modules in C++: shapes are inferred, constraints checked, shardings annotated.
//
//   Builder b("mlp", /*num_devices=*/8);
//   Value x = b.Split(b.Parameter(Shape(xla::F32, {64, 32}), "x"), 0, 8);
//   Value w = b.Replicate(b.Parameter(Shape(xla::F32, {32, 16}), "w"));
//   ASSIGN_OR_RETURN(auto module, b.Build(b.Maximum(b.Einsum("BM,MH->BH", x, w), b.Zeros(xla::F32, {64,
//   16}))));
//
// Errors: the first one is kept and given by Build(); the values of later calls then mean nothing. Every
// value belongs to the builder that made it.
#ifndef TOROID_HLO_IR_BUILDER_H_
#define TOROID_HLO_IR_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

using Value = Instruction*;

// The axes that cut one dimension, major to minor: "x", {"x", "y"}, or {} for none.
struct AxisNames {
  AxisNames() = default;
  AxisNames(const char* axis) : names({axis}) {}                                           // NOLINT
  AxisNames(std::initializer_list<const char*> axes) : names(axes.begin(), axes.end()) {}  // NOLINT
  std::vector<std::string> names;
};

// Named axes over devices 0 .. N-1 in row-major order.
struct NamedMesh {
  std::vector<std::pair<std::string, int64_t>> axes;
};

// Which device holds each tile: `tiles` says into how many parts each dimension is cut, `devices` lists the
// devices of the tiles in row-major order.
struct DeviceAssignment {
  std::vector<int64_t> tiles;
  std::vector<int64_t> devices;
};

class Builder {
 public:
  explicit Builder(std::string name, int64_t num_devices = 1);
  ~Builder();

  // The module with this value as its result; call once. kInvalidArgument with the first error.
  absl::StatusOr<std::unique_ptr<Module>> Build(Value root);
  const absl::Status& status() const { return status_; }
  int64_t num_devices() const { return num_devices_; }

  // While it lives, new ops are named `path/name` in their metadata, with the line that opened the scope.
  class Scope {
   public:
    Scope(Builder* builder, absl::string_view name,
          std::source_location where = std::source_location::current());
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder* builder_;
    const xla::OpMetadata* outer_;
  };

  // ---- Values
  // --------------------------------------------------------------------------------------------------
  Value Parameter(const Shape& shape, std::string name);
  Value Constant(const Literal& value);
  template <typename T>
  Value Scalar(T value) {
    return Constant(Literal::Scalar<T>(value));
  }
  // A scalar of the type, broadcast; `value` must be representable.
  Value Full(PrimitiveType type, absl::Span<const int64_t> dims, double value);
  Value Zeros(PrimitiveType type, absl::Span<const int64_t> dims) { return Full(type, dims, 0); }
  Value FullLike(Value like, double value);
  Value Iota(PrimitiveType type, absl::Span<const int64_t> dims, int64_t dimension);

  // ---- Elementwise
  // ---------------------------------------------------------------------------------------------
  Value Unary(Opcode opcode, Value x);
  Value Binary(Opcode opcode, Value a, Value b);
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
  Value Clamp(Value low, Value x, Value high);
  Value Convert(Value x, PrimitiveType type);
  // The op with a number broadcast to x's shape as second operand.
  Value AddNumber(Value x, double number) { return Add(x, FullLike(x, number)); }
  Value MultiplyNumber(Value x, double number) { return Multiply(x, FullLike(x, number)); }

  // ---- Data movement
  // ------------------------------------------------------------------------------------------- Operand
  // dimension i becomes dimension dimensions[i] of an array of sizes `dims`.
  Value Broadcast(Value x, absl::Span<const int64_t> dims, absl::Span<const int64_t> dimensions);
  Value Reshape(Value x, absl::Span<const int64_t> dims);
  Value Transpose(Value x, absl::Span<const int64_t> permutation);
  Value Reverse(Value x, absl::Span<const int64_t> dimensions);
  Value Concatenate(absl::Span<const Value> operands, int64_t dimension);
  Value Slice(Value x, absl::Span<const int64_t> starts, absl::Span<const int64_t> limits,
              absl::Span<const int64_t> strides = {});
  Value Pad(Value x, Value padding, absl::Span<const int64_t> low, absl::Span<const int64_t> high);
  Value Copy(Value x) { return Simple(Opcode::kCopy, x->shape(), {x}); }
  // table[indices[..], :]: rows of a matrix.
  Value GatherRows(Value table, Value indices);

  // ---- Contraction and reduction
  // -------------------------------------------------------------------------------
  Value Dot(Value lhs, Value rhs, const xla::DotDimensionNumbers& numbers);
  // One letter per dimension: "GSM,ME->GSE". Letters in both operands are batch dimensions if the result has
  // them, else summed over; letters of one operand must be in the result.
  Value Einsum(absl::string_view equation, Value lhs, Value rhs);
  // Folds with add, multiply, maximum, minimum, and, or, from the op's neutral element.
  Value Reduce(Opcode reducer, Value x, absl::Span<const int64_t> dimensions);
  Value Sum(Value x, absl::Span<const int64_t> dimensions) { return Reduce(Opcode::kAdd, x, dimensions); }
  Value Max(Value x, absl::Span<const int64_t> dimensions) { return Reduce(Opcode::kMaximum, x, dimensions); }
  // Result at i: the fold of x[0 .. i] along the dimension.
  Value CumulativeReduce(Opcode reducer, Value x, int64_t dimension);

  // ---- Structure
  // -----------------------------------------------------------------------------------------------
  Value Tuple(absl::Span<const Value> elements);
  Value GetTupleElement(Value tuple, int64_t index);
  // Any other op, its attributes filled by the caller.
  Value Op(Opcode opcode, const Shape& shape, absl::Span<const Value> operands,
           const xla::HloInstructionProto& attrs, absl::Span<Computation* const> called = {});
  // The computation (a, b) -> reducer(a, b) on scalars.
  Computation* ReducerComputation(Opcode reducer, PrimitiveType type);

  // ---- Sharding annotations
  // ------------------------------------------------------------------------------------ They never change
  // logical shapes. A parameter takes the annotation itself; any other value is passed through a `Sharding`
  // custom call, and the result must be used in its place.

  Value Annotate(Value x, const xla::OpSharding& sharding);
  // The same data on every device.
  Value Replicate(Value x);
  // n parts along the dimension, n dividing the number of devices; part i lies on devices i, i + n, i + 2n,
  // ...
  Value Split(Value x, int64_t dimension, int64_t n);
  // Explicit placement of tiles.
  Value Shard(Value x, const DeviceAssignment& assignment);
  // Mesh axes per dimension; axes that cut none replicate. Needs SetMesh.
  Value Shard(Value x, const std::vector<AxisNames>& axes);
  // Errors: unless the axes' sizes multiply to the number of devices.
  void SetMesh(NamedMesh mesh);

  // Enters manual mode: x, which must be annotated, becomes this device's shard of it.
  Value AutoToManual(Value x);
  // Leaves manual mode: the devices' values become the shards of an array of sizes `full`, cut along the
  // dimensions that grow (in row-major device order), or as `sharding` says.
  Value ManualToAuto(Value x, absl::Span<const int64_t> full);
  Value ManualToAuto(Value x, absl::Span<const int64_t> full, const xla::OpSharding& sharding);

 private:
  // Adds an op whose shape is inferred; `hint` is the shape for those whose result must be given.
  Value Infer(Opcode opcode, const Shape& hint, absl::Span<const Value> operands,
              xla::HloInstructionProto* attrs, absl::Span<Computation* const> called = {});
  Value Simple(Opcode opcode, const Shape& hint, absl::Span<const Value> operands) {
    return Infer(opcode, hint, operands, nullptr);
  }
  Value CustomCall(absl::string_view target, const Shape& shape, Value operand,
                   const xla::OpSharding& sharding);
  xla::HloInstructionProto* NewAttrs() { return module_->New<xla::HloInstructionProto>(); }
  void Fail(const absl::Status& status);
  // What a failed op returns: a value outside the program of the shape it should have had.
  Value Failed(const absl::Status& status, const Shape& shape);

  std::unique_ptr<Module> module_;
  Computation* entry_;
  std::unique_ptr<Computation> failed_;
  int64_t num_devices_;
  NamedMesh mesh_;
  absl::Status status_;
  const xla::OpMetadata* metadata_ = nullptr;
  absl::flat_hash_map<std::pair<int, int>, Computation*> reducers_;  // By opcode and type.
};

// The sharding that cuts dimension `dimension` of an array of this rank into n parts, for Builder::Split.
xla::OpSharding SplitSharding(int rank, int64_t dimension, int64_t n, int64_t num_devices);

}  // namespace toroid

#endif  // TOROID_HLO_IR_BUILDER_H_
