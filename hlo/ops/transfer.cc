#include "hlo/ops/transfer.h"

#include <utility>
#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

absl::Status CheckToken(const Instruction& instruction, int operand) {
  return CheckShape("C1", absl::StrCat("operand ", operand), instruction.operand(operand)->shape(),
                    Shape::Token());
}

// Checks a state (data, u32[], token) between send or recv and its done.
absl::Status CheckTransferState(absl::string_view constraint, absl::string_view what, const Shape& state) {
  const auto parts = state.tuple_shapes();
  if (state.IsTuple() && parts.size() == 3 && SameShape(parts[1], Shape(xla::U32, {})) &&
      parts[2].IsToken()) {
    return absl::OkStatus();
  }
  return Violates(constraint, what, state.ToString(), "(data, u32[], token[])");
}

// Checks C1 and C2 of async-update and async-done; returns the result in the state.
absl::StatusOr<Shape> ResultOfAsyncState(const Instruction& instruction) {
  const Shape& state = instruction.operand(0)->shape();
  if (!state.IsTuple() || state.tuple_shapes().size() < 2 || !state.tuple_shape(0).IsTuple()) {
    return Violates("C1", "operand 0", state.ToString(), "((operands), result, ..)");
  }
  for (const Computation* wrapped : instruction.called()) {
    RETURN_IF_ERROR(CheckShape("C2", absl::StrCat("result of ", wrapped->name()), wrapped->root()->shape(),
                               state.tuple_shape(1)));
  }
  return state.tuple_shape(1);
}

const Shape& U32() {
  static const Shape* const shape = new Shape(xla::U32, {});
  return *shape;
}

}  // namespace

absl::StatusOr<Shape> InferInfeedShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckToken(instruction, 0));
  if (given.IsTuple() && given.tuple_shapes().size() == 2 && given.tuple_shape(1).IsToken()) return given;
  return Violates("C2", "the result", given.ToString(), "(data, token[])");
}

absl::StatusOr<Shape> InferOutfeedShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckToken(instruction, 1));
  if (!instruction.attrs().has_outfeed_shape()) return Shape::Token();
  const Shape& data = instruction.operand(0)->shape();
  const absl::StatusOr<Shape> given = Shape::FromProto(instruction.attrs().outfeed_shape());
  if (!given.ok()) return Violates("C2", "outfeed_shape", given.status().message(), data.ToString());
  RETURN_IF_ERROR(CheckShape("C2", "outfeed_shape", *given, data));
  return Shape::Token();
}

absl::StatusOr<Shape> InferSendShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckToken(instruction, 1));
  return Shape::Tuple({instruction.operand(0)->shape(), U32(), Shape::Token()});
}

absl::StatusOr<Shape> InferSendDoneShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckTransferState("C1", "operand 0", instruction.operand(0)->shape()));
  return Shape::Token();
}

absl::StatusOr<Shape> InferRecvShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckToken(instruction, 0));
  RETURN_IF_ERROR(CheckTransferState("C2", "the result", given));
  return given;
}

absl::StatusOr<Shape> InferRecvDoneShape(const Instruction& instruction) {
  const Shape& state = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckTransferState("C1", "operand 0", state));
  return Shape::Tuple({state.tuple_shape(0), Shape::Token()});
}

absl::StatusOr<Shape> InferCopyStartShape(const Instruction& instruction) {
  const Shape& operand = instruction.operand(0)->shape();
  return Shape::Tuple({operand, operand, U32()});
}

absl::StatusOr<Shape> InferCopyDoneShape(const Instruction& instruction) {
  const Shape& state = instruction.operand(0)->shape();
  if (!state.IsTuple() || state.tuple_shapes().size() != 3 ||
      !SameShape(state.tuple_shape(0), state.tuple_shape(1))) {
    return Violates("C1", "operand 0", state.ToString(), "(x, x, context)");
  }
  return state.tuple_shape(0);
}

absl::StatusOr<Shape> InferAsyncStartShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  if (instruction.called().empty()) return Violates("C1", "wrapped computations", "none", "one");
  std::vector<Shape> operands;
  for (const Instruction* operand : instruction.operands()) operands.push_back(operand->shape());
  const Computation& wrapped = *instruction.called(0);
  const Shape& result = wrapped.root()->shape();
  RETURN_IF_ERROR(CheckCallee("C2", "wrapped computation", wrapped, operands, result));
  if (!given.IsTuple() || given.tuple_shapes().size() < 2 ||
      !SameShape(given.tuple_shape(0), Shape::Tuple(operands)) || !SameShape(given.tuple_shape(1), result)) {
    return Violates("C3", "the state", given.ToString(),
                    absl::StrCat("((operands), ", result.ToString(), ", ..)"));
  }
  return given;
}

absl::StatusOr<Shape> InferAsyncUpdateShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(ResultOfAsyncState(instruction).status());
  return instruction.operand(0)->shape();
}

absl::StatusOr<Shape> InferAsyncDoneShape(const Instruction& instruction) {
  return ResultOfAsyncState(instruction);
}

absl::StatusOr<Shape> InferGetDimensionSizeShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckOneDimension("C1", instruction, instruction.operand(0)->shape().rank()));
  return Shape(xla::S32, {});
}

absl::StatusOr<Shape> InferSetDimensionSizeShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  Shape shape = instruction.operand(0)->shape().WithRowMajorLayout();
  RETURN_IF_ERROR(CheckOneDimension("C1", instruction, shape.rank()));
  RETURN_IF_ERROR(CheckShape("C2", "operand 1", instruction.operand(1)->shape(), Shape(xla::S32, {})));
  shape.set_dynamic(instruction.dimension(), true);
  return shape;
}

absl::StatusOr<Shape> InferDynamicReshapeShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  if (instruction.num_operands() != given.rank() + 1) {
    return Violates("C1", "sizes", absl::StrCat(instruction.num_operands() - 1),
                    absl::StrCat("one per dimension of ", given.ToString()));
  }
  for (int i = 1; i < instruction.num_operands(); ++i) {
    RETURN_IF_ERROR(
        CheckShape("C1", absl::StrCat("operand ", i), instruction.operand(i)->shape(), Shape(xla::S32, {})));
  }
  const Shape& operand = instruction.operand(0)->shape();
  if (!given.IsArray() || given.NumElements() != operand.NumElements()) {
    return Violates("C2", "the result", given.ToString(),
                    absl::StrCat("an array of ", operand.NumElements(), " elements"));
  }
  if (given.element_type() != operand.element_type()) {
    return Violates("C3", "the result", given.ToString(),
                    absl::StrCat("type ", TypeName(operand.element_type())));
  }
  return given.WithRowMajorLayout();
}

}  // namespace toroid
