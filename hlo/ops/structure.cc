#include "hlo/ops/structure.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {

namespace {

bool HasKnownTypes(const Shape& shape) {
  if (shape.IsTuple()) {
    return std::all_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(), HasKnownTypes);
  }
  return shape.IsArray() || shape.IsToken() || shape.element_type() == xla::OPAQUE_TYPE;
}

}  // namespace

absl::StatusOr<Shape> InferParameterShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  if (HasKnownTypes(given)) return given;
  return Violates("C1", "the type of a parameter", given.ToString(), "element types that are known");
}

absl::StatusOr<Shape> InferConstantShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(Shape given, GivenShape(instruction));
  if (!instruction.attrs().has_literal()) return given;
  const xla::LiteralProto& proto = instruction.attrs().literal();
  // Dumps omit large constants: they keep only the shape.
  const absl::StatusOr<Literal> literal = Literal::FromProto(proto);
  if (!literal.ok()) {
    xla::LiteralProto shape_only;
    *shape_only.mutable_shape() = proto.shape();
    const bool left_out = proto.ByteSizeLong() == shape_only.ByteSizeLong();
    if (left_out) return given;
    return Violates("C1", "the literal", literal.status().message(), "one value per element of its shape");
  }
  RETURN_IF_ERROR(CheckShape("C2", "the literal", literal->shape(), given));
  return given;
}

absl::StatusOr<Shape> InferTupleShape(const Instruction& instruction) {
  std::vector<Shape> elements;
  int64_t parts = 0;
  for (const Instruction* operand : instruction.operands()) {
    elements.push_back(operand->shape());
    parts += NumParts(operand->shape());
    if (parts > kMaxTupleParts) break;  // Violates A6: copying more elements would only cost memory.
  }
  return Shape::Tuple(std::move(elements));
}

absl::StatusOr<Shape> InferGetTupleElementShape(const Instruction& instruction) {
  const Shape& tuple = instruction.operand(0)->shape();
  const int64_t index = instruction.tuple_index();
  if (!tuple.IsTuple()) return Violates("C1", "operand 0", tuple.ToString(), "a tuple");
  if (index < 0 || index >= static_cast<int64_t>(tuple.tuple_shapes().size())) {
    return Violates(
        "C2", "index", absl::StrCat(index),
        absl::StrCat("one of the ", tuple.tuple_shapes().size(), " elements of ", tuple.ToString()));
  }
  return tuple.tuple_shape(index);
}

absl::StatusOr<Shape> InferAfterAllShape(const Instruction& instruction) {
  for (int i = 0; i < instruction.num_operands(); ++i) {
    RETURN_IF_ERROR(
        CheckShape("C1", absl::StrCat("operand ", i), instruction.operand(i)->shape(), Shape::Token()));
  }
  return Shape::Token();
}

absl::StatusOr<Shape> InferAddDependencyShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckShape("C1", "operand 1", instruction.operand(1)->shape(), Shape::Token()));
  return instruction.operand(0)->shape();
}

absl::StatusOr<Shape> InferDeviceIdShape(const Instruction&) {
  const Shape scalar(xla::U32, {});
  return scalar;
}

}  // namespace toroid
