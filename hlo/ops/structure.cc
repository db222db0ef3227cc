#include "hlo/ops/structure.h"

#include <utility>
#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {

absl::StatusOr<Shape> InferParameterShape(const Instruction& instruction) {
  const Computation& computation = *instruction.computation();
  if (instruction.parameter_number() < 0 || instruction.parameter_number() >= computation.size()) {
    return Violates("C1",
                    absl::StrCat("parameter number ", instruction.parameter_number(), " is out of range"));
  }
  return GivenShape(instruction);
}

absl::StatusOr<Shape> InferConstantShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  if (!instruction.attrs().has_literal()) return given;
  const xla::LiteralProto& proto = instruction.attrs().literal();
  // A shape without data is how dumps leave large constants out.
  const absl::StatusOr<Literal> literal = Literal::FromProto(proto);
  if (!literal.ok()) {
    xla::LiteralProto shape_only;
    *shape_only.mutable_shape() = proto.shape();
    const bool left_out = proto.ByteSizeLong() == shape_only.ByteSizeLong();
    if (left_out) return given;
    return Violates("C1", literal.status().message());
  }
  if (!SameShape(literal->shape(), given)) {
    return Violates("C1", absl::StrCat("the literal is ", literal->shape().ToString(), ", the constant ",
                                       given.ToString()));
  }
  return given;
}

absl::StatusOr<Shape> InferTupleShape(const Instruction& instruction) {
  // Tuples of tuples double with every line; past any real program they only cost memory.
  constexpr int64_t kMaxLeaves = 1 << 16;
  std::vector<Shape> elements;
  int64_t leaves = 0;
  for (const Instruction* operand : instruction.operands()) {
    leaves += operand->shape().NumLeaves();
    if (leaves > kMaxLeaves) return Violates("C2", absl::StrCat("a tuple of more than ", kMaxLeaves, " leaves"));
    elements.push_back(operand->shape());
  }
  return Shape::Tuple(std::move(elements));
}

absl::StatusOr<Shape> InferGetTupleElementShape(const Instruction& instruction) {
  const Shape& tuple = instruction.operand(0)->shape();
  const int64_t index = instruction.tuple_index();
  if (!tuple.IsTuple() || index < 0 || index >= static_cast<int64_t>(tuple.tuple_shapes().size())) {
    return Violates("C1", absl::StrCat(tuple.ToString(), " has no element ", index));
  }
  return tuple.tuple_shape(static_cast<int>(index));
}

absl::StatusOr<Shape> InferAfterAllShape(const Instruction& instruction) {
  for (const Instruction* operand : instruction.operands()) {
    if (!operand->shape().IsToken()) {
      return Violates(
          "C1", absl::StrCat("operand ", operand->name(), " is ", operand->shape().ToString(), ", no token"));
    }
  }
  return Shape::Token();
}

absl::StatusOr<Shape> InferAddDependencyShape(const Instruction& instruction) {
  if (!instruction.operand(1)->shape().IsToken()) {
    return Violates("C1",
                    absl::StrCat("operand 1 is ", instruction.operand(1)->shape().ToString(), ", no token"));
  }
  return instruction.operand(0)->shape();
}

absl::StatusOr<Shape> InferDeviceIdShape(const Instruction&) { return Shape(xla::U32, {}); }

}  // namespace toroid
