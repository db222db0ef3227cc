// BUILD: per_level
#include "runtime/loops/binary_loops.h"

#include <cstdint>

#include "runtime/loops/float_loops.h"
#include "runtime/loops/int_loops.h"

namespace toroid::TOROID_LEVEL {
namespace {

// A pred is a byte, 0 or 1: compilers make vectors of bytes, not of bool.
uint8_t Or(uint8_t a, uint8_t b) { return a | b; }
uint8_t And(uint8_t a, uint8_t b) { return a & b; }
uint8_t Xor(uint8_t a, uint8_t b) { return a ^ b; }

BinaryLoop FindPredLoop(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kOr:
      return LoopOfTwo<uint8_t, uint8_t, Or>;
    case Opcode::kMultiply:
    case Opcode::kMinimum:
    case Opcode::kAnd:
      return LoopOfTwo<uint8_t, uint8_t, And>;
    case Opcode::kXor:
      return LoopOfTwo<uint8_t, uint8_t, Xor>;
    default:
      return nullptr;
  }
}

}  // namespace

BinaryLoop FindBinaryLoop(Opcode opcode, PrimitiveType type) {
  if (type == xla::PRED) return FindPredLoop(opcode);
  return IsInt(type) ? FindIntLoop(opcode, type) : FindFloatLoop(opcode, type);
}

}  // namespace toroid::TOROID_LEVEL
