// BUILD: copts = ["-O3"]
#include "runtime/loops/int_loops.h"

#include "hlo/ir/native_types.h"
#include "runtime/loops/scalar_ops.h"

namespace toroid {
namespace {

template <typename T>
BinaryLoop Find(Opcode opcode) {
  using Ops = IntOps<T>;
  switch (opcode) {
    case Opcode::kAdd:
      return LoopOfTwo<T, T, Ops::Add>;
    case Opcode::kSubtract:
      return LoopOfTwo<T, T, Ops::Subtract>;
    case Opcode::kMultiply:
      return LoopOfTwo<T, T, Ops::Multiply>;
    case Opcode::kMulhi:
      return LoopOfTwo<T, T, Ops::MultiplyHigh>;
    case Opcode::kDivide:
      return LoopOfTwo<T, T, Ops::Divide>;
    case Opcode::kRemainder:
      return LoopOfTwo<T, T, Ops::Remainder>;
    case Opcode::kPower:
      return LoopOfTwo<T, T, Ops::Power>;
    case Opcode::kMaximum:
      return LoopOfTwo<T, T, Ops::Maximum>;
    case Opcode::kMinimum:
      return LoopOfTwo<T, T, Ops::Minimum>;
    case Opcode::kAnd:
      return LoopOfTwo<T, T, Ops::And>;
    case Opcode::kOr:
      return LoopOfTwo<T, T, Ops::Or>;
    case Opcode::kXor:
      return LoopOfTwo<T, T, Ops::Xor>;
    case Opcode::kShiftLeft:
      return LoopOfTwo<T, T, Ops::ShiftLeft>;
    case Opcode::kShiftRightLogical:
      return LoopOfTwo<T, T, Ops::ShiftRightLogical>;
    case Opcode::kShiftRightArithmetic:
      return LoopOfTwo<T, T, Ops::ShiftRightArithmetic>;
    default:
      return nullptr;
  }
}

}  // namespace

BinaryLoop FindIntLoop(Opcode opcode, PrimitiveType type) {
  switch (type) {
#define TOROID_CASE(enumerator, cpp) \
  case xla::enumerator:              \
    return Find<cpp>(opcode);
    TOROID_FOR_EACH_INT_TYPE(TOROID_CASE)
#undef TOROID_CASE
    default:
      return nullptr;
  }
}

}  // namespace toroid
