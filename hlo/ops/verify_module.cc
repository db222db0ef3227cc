#include "hlo/ops/verify_module.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "hlo/ops/constraint.h"
#include "hlo/ops/infer_shape.h"

namespace toroid {
namespace {

absl::Status At(const Instruction& instruction, const absl::Status& status) {
  return Annotate(status, absl::StrCat(instruction.computation()->name(), "/", instruction.name()));
}

bool HasUnboundedDimension(const Shape& shape) {
  if (shape.IsTuple()) {
    return std::any_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(), HasUnboundedDimension);
  }
  return Contains(shape.dims(), std::numeric_limits<int64_t>::min());
}

absl::Status CheckReferences(const Instruction& instruction) {
  const Computation* computation = instruction.computation();
  const auto is_earlier = [&](const Instruction* other) {
    return other->computation() == computation && other->index() < instruction.index();
  };
  for (const Instruction* operand : instruction.operands()) {
    if (!is_earlier(operand)) {
      return Violates(
          "C0", absl::StrCat("operand ", operand->name(), " does not stand earlier in the computation"));
    }
  }
  for (const Instruction* predecessor : instruction.control_predecessors()) {
    if (predecessor->computation() != computation || predecessor == &instruction) {
      return Violates(
          "C0", absl::StrCat("control predecessor ", predecessor->name(), " is in another computation"));
    }
  }
  for (const Computation* callee : instruction.called()) {
    if (callee->module() != computation->module() || callee->index() >= computation->index()) {
      return Violates("C0",
                      absl::StrCat("computation ", callee->name(), " does not stand before its caller"));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyComputation(const Computation& computation, std::vector<int>* depths) {
  if (computation.root() == nullptr || computation.root()->computation() != &computation) {
    return absl::InvalidArgumentError(absl::StrCat(computation.name(), ": there is no root"));
  }
  int depth = 1, parameters = 0;
  for (const auto& instruction : computation.instructions()) {
    if (absl::Status status = CheckReferences(*instruction); !status.ok()) return At(*instruction, status);
    RETURN_IF_ERROR(VerifyInstruction(*instruction));
    for (const Computation* callee : instruction->called()) {
      depth = std::max(depth, (*depths)[callee->index()] + 1);
    }
    if (instruction->opcode() != Opcode::kParameter) continue;
    ++parameters;
    const int64_t number = instruction->parameter_number();
    if (number >= computation.num_parameters() ||
        computation.parameter(static_cast<int>(number)) != instruction.get()) {
      return At(*instruction,
                Violates("C1", absl::StrCat("parameter number ", number, " is taken or leaves a gap")));
    }
  }
  if (parameters != computation.num_parameters()) {
    return absl::InvalidArgumentError(absl::StrCat(computation.name(), ": parameters are missing"));
  }
  if (depth > kMaxCallDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat(computation.name(), ": calls nest ", depth, " deep, at most ", kMaxCallDepth));
  }
  depths->push_back(depth);
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyInstruction(const Instruction& instruction) {
  const absl::StatusOr<Shape> inferred = InferShape(instruction);
  if (!inferred.ok()) return At(instruction, inferred.status());
  if (!SameShape(instruction.shape(), *inferred)) {
    return At(instruction,
              Violates("C0", absl::StrCat("the shape is ", instruction.shape().ToString(), ", but ",
                                          inferred->ToString(), " follows from the operands")));
  }
  if (HasUnboundedDimension(instruction.shape())) {
    return At(instruction, Violates("C0", absl::StrCat(instruction.shape().ToString(),
                                                       " has a dimension of unknown size")));
  }
  return absl::OkStatus();
}

absl::Status VerifyModule(const Module& module) {
  if (module.entry() == nullptr) return absl::InvalidArgumentError("the module has no entry computation");
  std::vector<int> depths;
  depths.reserve(module.num_computations());
  for (const auto& computation : module.computations())
    RETURN_IF_ERROR(VerifyComputation(*computation, &depths));
  return absl::OkStatus();
}

}  // namespace toroid
