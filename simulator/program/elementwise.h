// Which instructions make each element of their result from the same elements of their operands, and which have one value for
// all.
#pragma once

#include "hlo/ir/instruction.h"

namespace toroid {

// Those whose opcode says so, and bits that are read as a type of the same width.
inline bool IsElementwise(const Instruction& op) {
  return IsElementwise(op.opcode()) ||
         (op.opcode() == Opcode::kBitcastConvert && op.shape().dims() == op.operand(0)->shape().dims());
}

// A scalar, or one that is spread over an array.
inline bool IsEverywhereTheSame(const Instruction& value) {
  return value.shape().rank() == 0 ||
         (value.opcode() == Opcode::kBroadcast && value.operand(0)->shape().rank() == 0);
}

}  // namespace toroid
