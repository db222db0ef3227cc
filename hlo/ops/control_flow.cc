#include "hlo/ops/control_flow.h"

#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {

absl::StatusOr<Shape> InferCallShape(const Instruction& instruction) {
  const Computation& callee = *instruction.called(0);
  if (callee.num_parameters() != instruction.num_operands()) {
    return Violates("C1", "operands", absl::StrCat(instruction.num_operands()),
                    absl::StrCat(callee.num_parameters(), ", as ", callee.name(), " takes"));
  }
  for (int i = 0; i < instruction.num_operands(); ++i) {
    RETURN_IF_ERROR(CheckShape("C2", absl::StrCat("operand ", i, " for ", callee.name()),
                               instruction.operand(i)->shape(), callee.parameter(i)->shape()));
  }
  return callee.root()->shape();
}

absl::StatusOr<Shape> InferFusionShape(const Instruction& instruction) { return InferCallShape(instruction); }

absl::StatusOr<Shape> InferWhileShape(const Instruction& instruction) {
  const Shape& value = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckCallee("C1", "body", *instruction.called(0), {value}, value));
  RETURN_IF_ERROR(CheckCallee("C2", "condition", *instruction.called(1), {value}, Shape(xla::PRED, {})));
  return value;
}

absl::StatusOr<Shape> InferConditionalShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 2));
  const int branches = static_cast<int>(instruction.called().size());
  const Shape& index = instruction.operand(0)->shape();
  const bool predicate = index.IsScalar() && index.element_type() == xla::PRED;
  if (!(predicate && branches == 2) && !(index.IsScalar() && index.element_type() == xla::S32)) {
    return Violates("C1", "the index", absl::StrCat(index.ToString(), " of ", branches, " branches"),
                    "pred[] for two, s32[] for any number");
  }
  if (instruction.num_operands() != branches + 1) {
    return Violates("C2", "operands of branches", absl::StrCat(instruction.num_operands() - 1),
                    absl::StrCat(branches));
  }
  const Shape& result = instruction.called(0)->root()->shape();
  for (int i = 0; i < branches; ++i) {
    const Computation& branch = *instruction.called(i);
    RETURN_IF_ERROR(
        CheckShape("C4", absl::StrCat("result of branch ", branch.name()), branch.root()->shape(), result));
    RETURN_IF_ERROR(CheckCallee("C3", "branch", branch, {instruction.operand(i + 1)->shape()}, result));
  }
  return result;
}

namespace {

absl::Status CheckOneOperand(absl::string_view constraint, const Instruction& call) {
  if (call.num_operands() == 1) return absl::OkStatus();
  return Violates(constraint, absl::StrCat("operands of ", call.custom_call_target()),
                  absl::StrCat(call.num_operands()), "1");
}

bool HasWidth(const Shape& shape, int64_t bytes) {
  return shape.IsArray() && ByteWidth(shape.element_type()) == bytes;
}

// Checks C3 and C4: elements of 64 bits made from two halves, or one of the halves.
absl::Status CheckHalves(const Instruction& call) {
  const bool combine = call.custom_call_target() == "X64Combine";
  const int64_t from = combine ? 4 : 8, to = combine ? 8 : 4;
  const Shape& result = call.shape();
  bool fits = call.num_operands() == (combine ? 2 : 1) && HasWidth(result, to);
  for (const Instruction* operand : call.operands()) {
    fits = fits && HasWidth(operand->shape(), from) && operand->shape().SameDims(result);
  }
  if (fits) return absl::OkStatus();
  return Violates(combine ? "C3" : "C4", absl::StrCat("the result of ", call.custom_call_target()),
                  result.ToString(),
                  combine ? "64 bits per element, of two operands of 32 and equal sizes"
                          : "32 bits per element, of an operand of 64 and equal sizes");
}

// Checks C5.
absl::Status CheckTopK(const Instruction& call) {
  RETURN_IF_ERROR(CheckOperandCount(call, 1));
  const Shape& operand = call.operand(0)->shape();
  const Shape& result = call.shape();
  bool fits = operand.IsArray() && operand.rank() >= 1 && result.IsTuple() &&
              result.tuple_shapes().size() == 2 && result.tuple_shape(0).rank() == operand.rank();
  for (int d = 0; fits && d < operand.rank(); ++d) {
    const int64_t size = result.tuple_shape(0).dim(d);
    fits = d + 1 < operand.rank() ? size == operand.dim(d) : size <= operand.dim(d);
  }
  fits = fits && result.tuple_shape(0).element_type() == operand.element_type() &&
         SameShape(result.tuple_shape(1), Shape(xla::S32, result.tuple_shape(0).dims()));
  if (fits) return absl::OkStatus();
  return Violates("C5", absl::StrCat("the result of ", call.custom_call_target()), result.ToString(),
                  absl::StrCat("(values, s32 indices) of the sizes of ", operand.ToString(),
                               " but for a smaller last one"));
}

}  // namespace

absl::StatusOr<Shape> InferCustomCallShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const absl::string_view target = instruction.custom_call_target();
  if (target == "Sharding" || target == "ShardBarrierFrom" || target == "ShardBarrierTo") {
    RETURN_IF_ERROR(CheckOneOperand("C1", instruction));
    RETURN_IF_ERROR(
        CheckShape("C1", absl::StrCat("the result of ", target), given, instruction.operand(0)->shape()));
  } else if (target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") {
    RETURN_IF_ERROR(CheckOneOperand("C2", instruction));
    const Shape& operand = instruction.operand(0)->shape();
    if (operand.element_type() != given.element_type() || operand.rank() != given.rank()) {
      return Violates("C2", absl::StrCat("the result of ", target), given.ToString(),
                      absl::StrCat("type and rank of ", operand.ToString()));
    }
  } else if (target == "X64Combine" || target == "X64SplitLow" || target == "X64SplitHigh") {
    RETURN_IF_ERROR(CheckHalves(instruction));
  } else if (target == "TopK" || target == "mhlo.topk") {
    RETURN_IF_ERROR(CheckTopK(instruction));
  }
  return given;
}

}  // namespace toroid
