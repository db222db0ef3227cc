// The loops of an elementwise instruction: what a group runs over each block.
//
// Narrow floats (block_convert.h) are held as f32 values that the narrow type can state: an op computes in f32 and its result
// is rounded to the narrow type. To add an elementwise op, add its row to hlo/opcode.inc and its loop to ../loops.
#pragma once

#include "hlo/ir/instruction.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/select_loops.h"
#include "runtime/loops/unary_loops.h"

namespace toroid {

struct ElementOp {
  enum class Kind : uint8_t {
    kNone,  // Not elementwise, or not defined on the types.
    kSame,  // The result is the operand: same elements in the same order, perhaps of another type of the same width.
    kUnary,   // unary(operand)
    kBinary,  // binary(operand 0, operand 1)
    kSelect,  // select(operands)
    kClamp,   // then(binary(operand 1, operand 0), operand 2)
  };
  Kind kind = Kind::kNone;
  // The result is a narrow float that the loops do not round to. False for ops that give one of their operands, or exact
  // results.
  bool rounds = false;
  // The loops read, or write, a narrow float in its own format.
  bool narrow_operands = false,
       narrow_result = false;  // The loops read, or write, narrow floats as they are in memory.
  UnaryLoop unary = nullptr;
  BinaryLoop binary = nullptr, then = nullptr;
  SelectLoop select = nullptr;
};

// kNone for what is not an elementwise op on arrays, or has no loop for the types.
ElementOp ElementOpOf(const Instruction& instruction);

// What elements of `type` take in a block: narrow floats are held as f32.
inline PrimitiveType HeldType(PrimitiveType type) { return ComputeType(type); }

}  // namespace toroid
