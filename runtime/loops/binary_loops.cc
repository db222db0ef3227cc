#include "runtime/loops/binary_loops.h"

#include "runtime/loops/float_loops.h"
#include "runtime/loops/int_loops.h"

namespace toroid {
namespace {

bool Or(bool a, bool b) { return a | b; }
bool And(bool a, bool b) { return a & b; }
bool Xor(bool a, bool b) { return a != b; }

BinaryLoop FindPredLoop(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kOr:
      return LoopOfTwo<bool, bool, Or>;
    case Opcode::kMultiply:
    case Opcode::kMinimum:
    case Opcode::kAnd:
      return LoopOfTwo<bool, bool, And>;
    case Opcode::kXor:
      return LoopOfTwo<bool, bool, Xor>;
    default:
      return nullptr;
  }
}

}  // namespace

BinaryLoop FindBinaryLoop(Opcode opcode, PrimitiveType type) {
  if (type == xla::PRED) return FindPredLoop(opcode);
  return IsInt(type) ? FindIntLoop(opcode, type) : FindFloatLoop(opcode, type);
}

}  // namespace toroid
