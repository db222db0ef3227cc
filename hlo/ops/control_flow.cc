#include "hlo/ops/control_flow.h"

#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {

absl::StatusOr<Shape> InferCallShape(const Instruction& instruction) {
  const Computation& callee = *instruction.called(0);
  if (callee.num_parameters() != instruction.num_operands()) {
    return Violates("C1", absl::StrCat(instruction.num_operands(), " operands, ", callee.name(), " takes ",
                                       callee.num_parameters()));
  }
  for (int i = 0; i < instruction.num_operands(); ++i) {
    if (!SameShape(instruction.operand(i)->shape(), callee.parameter(i)->shape())) {
      return Violates("C1", absl::StrCat("operand ", i, " is ", instruction.operand(i)->shape().ToString(),
                                         ", the parameter of ", callee.name(), " ",
                                         callee.parameter(i)->shape().ToString()));
    }
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
    return Violates("C1", absl::StrCat("index ", index.ToString(), " of ", branches, " branches"),
                    "use pred[] for two, s32[] for any number");
  }
  if (instruction.num_operands() != branches + 1) {
    return Violates(
        "C2", absl::StrCat(instruction.num_operands() - 1, " branch operands for ", branches, " branches"));
  }
  const Shape& result = instruction.called(0)->root()->shape();
  for (int i = 0; i < branches; ++i) {
    const Computation& branch = *instruction.called(i);
    if (!SameShape(branch.root()->shape(), result)) {
      return Violates("C3", absl::StrCat("branch ", branch.name(), " gives ",
                                         branch.root()->shape().ToString(), ", not ", result.ToString()));
    }
    RETURN_IF_ERROR(CheckCallee("C2", "branch", branch, {instruction.operand(i + 1)->shape()}, result));
  }
  return result;
}

absl::StatusOr<Shape> InferCustomCallShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const absl::string_view target = instruction.custom_call_target();
  const bool manual = target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape";
  if (!manual && target != "Sharding" && target != "ShardBarrierFrom" && target != "ShardBarrierTo")
    return given;
  if (instruction.num_operands() != 1) {
    return Violates("C1", absl::StrCat(target, " has ", instruction.num_operands(), " operands"), "give one");
  }
  const Shape& operand = instruction.operand(0)->shape();
  const bool fits = manual ? operand.element_type() == given.element_type() && operand.rank() == given.rank()
                           : SameShape(operand, given);
  if (!fits)
    return Violates("C1", absl::StrCat(target, " of ", operand.ToString(), " gives ", given.ToString()));
  return given;
}

}  // namespace toroid
