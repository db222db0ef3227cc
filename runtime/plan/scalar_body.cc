#include "runtime/plan/scalar_body.h"

namespace toroid {
namespace {

bool IsIdentity(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
      return true;
    case Opcode::kCustomCall:
      return instruction.num_operands() == 1 && instruction.custom_call_target() == "Sharding";
    default:
      return false;
  }
}

const Instruction* LookThrough(const Instruction* instruction) {
  while (IsIdentity(*instruction)) instruction = instruction->operand(0);
  return instruction;
}

bool IsAssociative(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

bool IsParameter(const Instruction& instruction, int64_t number) {
  return instruction.opcode() == Opcode::kParameter && instruction.parameter_number() == number;
}

}  // namespace

std::optional<SimpleBody> ClassifyBody(const Computation& computation) {
  if (computation.num_parameters() != 2 || computation.root() == nullptr) return std::nullopt;
  const Shape& shape = computation.parameter(0)->shape();
  if (!shape.IsScalar() || !computation.parameter(1)->shape().Compatible(shape) ||
      !computation.root()->shape().Compatible(shape)) {
    return std::nullopt;
  }
  const Instruction* root = LookThrough(computation.root());
  if (IsParameter(*root, 1)) return SimpleBody{};
  if (root->num_operands() != 2) return std::nullopt;
  const Instruction* a = LookThrough(root->operand(0));
  const Instruction* b = LookThrough(root->operand(1));
  if (root->opcode() == Opcode::kCall) {
    return IsParameter(*a, 0) && IsParameter(*b, 1) ? ClassifyBody(*root->called(0)) : std::nullopt;
  }
  const bool both = (IsParameter(*a, 0) && IsParameter(*b, 1)) || (IsParameter(*a, 1) && IsParameter(*b, 0));
  if (!both || !IsAssociative(root->opcode())) return std::nullopt;
  return SimpleBody{root->opcode()};
}

}  // namespace toroid
