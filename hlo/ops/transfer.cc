#include "hlo/ops/transfer.h"

#include <utility>
#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

absl::Status CheckToken(const Instruction& instruction, int operand) {
  const Shape& shape = instruction.operand(operand)->shape();
  if (shape.IsToken()) return absl::OkStatus();
  return Violates("C1", absl::StrCat("operand ", operand, " is ", shape.ToString(), ", no token"));
}

// A tuple of `count` elements (or more, if `open`).
absl::Status CheckState(const Shape& shape, size_t count, absl::string_view what, bool open = false) {
  if (shape.IsTuple() &&
      (shape.tuple_shapes().size() == count || (open && shape.tuple_shapes().size() > count))) {
    return absl::OkStatus();
  }
  return Violates("C1", absl::StrCat(shape.ToString(), " is no ", what));
}

const Shape& U32() {
  static const Shape* const shape = new Shape(xla::U32, {});
  return *shape;
}

}  // namespace

absl::StatusOr<Shape> InferInfeedShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckToken(instruction, 0));
  RETURN_IF_ERROR(CheckState(given, 2, "(data, token)"));
  return given;
}

absl::StatusOr<Shape> InferOutfeedShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckToken(instruction, 1));
  return Shape::Token();
}

absl::StatusOr<Shape> InferSendShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckToken(instruction, 1));
  return Shape::Tuple({instruction.operand(0)->shape(), U32(), Shape::Token()});
}

absl::StatusOr<Shape> InferSendDoneShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckState(instruction.operand(0)->shape(), 3, "state of send"));
  return Shape::Token();
}

absl::StatusOr<Shape> InferRecvShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckToken(instruction, 0));
  RETURN_IF_ERROR(CheckState(given, 3, "(data, u32[], token)"));
  return Shape::Tuple({given.tuple_shape(0), U32(), Shape::Token()});
}

absl::StatusOr<Shape> InferRecvDoneShape(const Instruction& instruction) {
  const Shape& state = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckState(state, 3, "state of recv"));
  return Shape::Tuple({state.tuple_shape(0), Shape::Token()});
}

absl::StatusOr<Shape> InferCopyStartShape(const Instruction& instruction) {
  const Shape& operand = instruction.operand(0)->shape();
  return Shape::Tuple({operand, operand, U32()});
}

absl::StatusOr<Shape> InferCopyDoneShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckState(instruction.operand(0)->shape(), 3, "state of copy-start"));
  return instruction.operand(0)->shape().tuple_shape(0);
}

absl::StatusOr<Shape> InferAsyncStartShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  if (instruction.called().empty()) return Violates("C1", "no wrapped computation");
  std::vector<Shape> operands;
  for (const Instruction* operand : instruction.operands()) operands.push_back(operand->shape());
  const Computation& wrapped = *instruction.called(0);
  const Shape& result = wrapped.root()->shape();
  RETURN_IF_ERROR(CheckCallee("C1", "wrapped computation", wrapped, operands, result));
  if (!given.IsTuple() || given.tuple_shapes().size() < 2 ||
      !SameShape(given.tuple_shape(0), Shape::Tuple(operands)) || !SameShape(given.tuple_shape(1), result)) {
    return Violates("C2", absl::StrCat("state ", given.ToString()), "give ((operands), result, ..)");
  }
  return given;
}

absl::StatusOr<Shape> InferAsyncUpdateShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckState(instruction.operand(0)->shape(), 2, "asynchronous state", /*open=*/true));
  return instruction.operand(0)->shape();
}

absl::StatusOr<Shape> InferAsyncDoneShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckState(instruction.operand(0)->shape(), 2, "asynchronous state", /*open=*/true));
  return instruction.operand(0)->shape().tuple_shape(1);
}

absl::StatusOr<Shape> InferGetDimensionSizeShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  if (instruction.dimensions().size() != 1) return Violates("C1", "not exactly one dimension");
  RETURN_IF_ERROR(
      CheckDimension("C1", "dimension", instruction.dimension(), instruction.operand(0)->shape().rank()));
  return Shape(xla::S32, {});
}

absl::StatusOr<Shape> InferSetDimensionSizeShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  if (instruction.dimensions().size() != 1) return Violates("C1", "not exactly one dimension");
  Shape shape = instruction.operand(0)->shape().WithRowMajorLayout();
  RETURN_IF_ERROR(CheckDimension("C1", "dimension", instruction.dimension(), shape.rank()));
  RETURN_IF_ERROR(CheckScalar("C1", "operand 1", instruction.operand(1)->shape(), xla::S32));
  shape.set_dynamic(static_cast<int>(instruction.dimension()), true);
  return shape;
}

absl::StatusOr<Shape> InferDynamicReshapeShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  if (instruction.num_operands() != given.rank() + 1) {
    return Violates("C1", absl::StrCat(instruction.num_operands() - 1, " sizes for ", given.ToString()));
  }
  for (int i = 1; i < instruction.num_operands(); ++i) {
    RETURN_IF_ERROR(
        CheckScalar("C1", absl::StrCat("operand ", i), instruction.operand(i)->shape(), xla::S32));
  }
  const Shape& operand = instruction.operand(0)->shape();
  if (!given.IsArray() || given.element_type() != operand.element_type() ||
      given.NumElements() != operand.NumElements()) {
    return Violates("C2", absl::StrCat(operand.ToString(), " reshaped to ", given.ToString()));
  }
  return given.WithRowMajorLayout();
}

}  // namespace toroid
