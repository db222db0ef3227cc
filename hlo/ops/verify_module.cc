#include "hlo/ops/verify_module.h"

#include <algorithm>
#include <vector>

#include "hlo/ops/constraint.h"
#include "hlo/ops/infer_shape.h"

namespace toroid {
namespace {

absl::Status WithPlace(const Instruction& instruction, const absl::Status& status) {
  return Annotate(status, absl::StrCat(instruction.computation()->name(), "/", instruction.name()));
}

bool HasUnknownSize(const Shape& shape) {
  if (shape.IsTuple()) {
    return std::any_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(), HasUnknownSize);
  }
  return std::any_of(shape.dims().begin(), shape.dims().end(), [](int64_t size) { return size < 0; });
}

absl::Status CheckEarlier(absl::string_view constraint, absl::string_view role, const Instruction& other,
                          const Instruction& instruction) {
  if (other.computation() == instruction.computation() && other.index() < instruction.index()) {
    return absl::OkStatus();
  }
  return Violates(constraint, role, other.name(), "an instruction that stands earlier in the computation");
}

absl::Status CheckReferences(const Instruction& instruction) {
  for (const Instruction* operand : instruction.operands()) {
    RETURN_IF_ERROR(CheckEarlier("M3", "operand", *operand, instruction));
  }
  for (const Instruction* predecessor : instruction.control_predecessors()) {
    RETURN_IF_ERROR(CheckEarlier("M4", "control predecessor", *predecessor, instruction));
  }
  const Computation& caller = *instruction.computation();
  for (const Computation* callee : instruction.called()) {
    if (callee->module() != caller.module() || callee->index() >= caller.index()) {
      return Violates("M5", "called computation", callee->name(),
                      absl::StrCat("a computation that stands before ", caller.name()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckParameterNumber(const Instruction& parameter) {
  const Computation& computation = *parameter.computation();
  const int64_t number = parameter.parameter_number();
  if (number >= 0 && number < computation.num_parameters() && computation.parameter(number) == &parameter) {
    return absl::OkStatus();
  }
  return Violates("M7", "parameter number", absl::StrCat(number),
                  absl::StrCat("0 .. ", computation.num_parameters() - 1, ", each once"));
}

absl::Status VerifyComputation(const Computation& computation, std::vector<int>* depths) {
  const Instruction* root = computation.root();
  if (root == nullptr || root->computation() != &computation) {
    return Annotate(Violates("M2", "the root", root == nullptr ? "none" : root->name(),
                             "an instruction of this computation"),
                    computation.name());
  }
  int depth = 1, parameters = 0;
  for (const auto& instruction : computation.instructions()) {
    if (absl::Status status = CheckReferences(*instruction); !status.ok())
      return WithPlace(*instruction, status);
    RETURN_IF_ERROR(VerifyInstruction(*instruction));
    for (const Computation* callee : instruction->called()) {
      depth = std::max(depth, (*depths)[callee->index()] + 1);
    }
    if (depth > kMaxCallDepth) {
      return WithPlace(*instruction, Violates("M6", "the depth of calls", absl::StrCat(depth),
                                              absl::StrCat("at most ", kMaxCallDepth)));
    }
    if (instruction->opcode() != Opcode::kParameter) continue;
    ++parameters;
    if (absl::Status status = CheckParameterNumber(*instruction); !status.ok())
      return WithPlace(*instruction, status);
  }
  if (parameters != computation.num_parameters()) {
    return Annotate(
        Violates("M7", "parameters", absl::StrCat(parameters), absl::StrCat(computation.num_parameters())),
        computation.name());
  }
  depths->push_back(depth);
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyInstruction(const Instruction& instruction) {
  const absl::StatusOr<Shape> inferred = InferShape(instruction);
  if (!inferred.ok()) return WithPlace(instruction, inferred.status());
  const absl::Status fits = MayRound(instruction.opcode())
                                ? CheckShapeUpToFloats("A5", "the shape", instruction.shape(), *inferred)
                                : CheckShape("A5", "the shape", instruction.shape(), *inferred);
  if (!fits.ok()) return WithPlace(instruction, fits);
  if (HasUnknownSize(instruction.shape())) {
    return WithPlace(instruction,
                     Violates("A7", "the shape", instruction.shape().ToString(), "sizes that are known"));
  }
  return absl::OkStatus();
}

absl::Status VerifyModule(const Module& module) {
  if (module.entry() == nullptr || module.entry()->module() != &module) {
    return Violates("M1", absl::StrCat(module.name(), ": the entry"),
                    module.entry() == nullptr ? "none" : module.entry()->name(),
                    "one of the module's computations");
  }
  std::vector<int> depths;
  depths.reserve(module.num_computations());
  for (const auto& computation : module.computations()) {
    RETURN_IF_ERROR(VerifyComputation(*computation, &depths));
  }
  return absl::OkStatus();
}

}  // namespace toroid
