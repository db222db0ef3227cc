#include "simulator/chip/op_slots.h"

#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

bool IsConstant(const Instruction* value) {
  while (value->opcode() == Opcode::kBroadcast || value->opcode() == Opcode::kReshape)
    value = value->operand(0);
  return value->opcode() == Opcode::kConstant;
}

// By 2, 4, 8, ...: a few bits.
bool IsByPowerOfTwo(const Instruction& remainder) {
  const Instruction* by = remainder.operand(1);
  while (by->opcode() == Opcode::kBroadcast || by->opcode() == Opcode::kReshape) by = by->operand(0);
  if (by->opcode() != Opcode::kConstant || by->shape().rank() != 0 || by->shape().element_type() != xla::S32)
    return false;
  const absl::StatusOr<Literal> literal = LiteralOf(*by);
  if (!literal.ok()) return false;
  const int32_t n = literal->data<int32_t>()[0];
  return n > 0 && (n & (n - 1)) == 0;
}

}  // namespace

double SlotsOf(const Instruction& instruction, const OpSlots& slots) {
  switch (instruction.opcode()) {
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
    case Opcode::kReducePrecision:
    case Opcode::kCopy:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
    // A sign or an absolute value is part of another instruction; for the last ones the compiler counts nothing.
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kSign:
    case Opcode::kIsFinite:
    case Opcode::kPopulationCount:
    case Opcode::kClz:
    case Opcode::kSqrt:
    case Opcode::kLog1p:
    case Opcode::kExpm1:
      return 0;
    case Opcode::kExp:
    case Opcode::kTanh:
    case Opcode::kRsqrt:
      return slots.exponential();
    case Opcode::kLog:
      return slots.logarithm();
    case Opcode::kDivide:
      return instruction.num_operands() == 2 && IsConstant(instruction.operand(1)) ? slots.simple()
                                                                                   : slots.divide();
    case Opcode::kRemainder:
      return instruction.num_operands() == 2 && IsByPowerOfTwo(instruction) ? slots.simple()
                                                                            : slots.remainder();
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
      return slots.rounding();
    case Opcode::kLogistic:
      return slots.logistic();
    case Opcode::kErf:
      return slots.error_function();
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTan:
      return slots.sine();
    case Opcode::kPower:
    case Opcode::kCbrt:
    case Opcode::kAtan2:
    case Opcode::kSinh:
    case Opcode::kCosh:
    case Opcode::kAsin:
    case Opcode::kAcos:
    case Opcode::kAsinh:
    case Opcode::kAcosh:
    case Opcode::kAtanh:
      return slots.power();
    case Opcode::kReduce:
    case Opcode::kMap:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSort:
      return instruction.called().empty() ? slots.simple() : SlotsOf(*instruction.called(0), slots);
    default:
      return IsElementwise(instruction.opcode()) ? slots.simple() : 0;
  }
}

double SlotsOf(const Computation& computation, const OpSlots& slots) {
  double sum = 0;
  for (const auto& instruction : computation.instructions()) {
    // Reductions inside of reductions do not exist in lowered modules; what they would take is not followed.
    if (IsElementwise(instruction->opcode())) sum += SlotsOf(*instruction, slots);
  }
  return sum;
}

}  // namespace toroid
