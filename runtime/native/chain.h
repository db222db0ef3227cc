// A chain: elementwise ops that run as one loop of machine code, with the values between them in registers.
//
// Values are numbered: inputs first, then the results of ops, in order. Types: F32, S32, U32, PRED, and BF16, F16, S8, U8, S16
// and U16, which are read, written and converted only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hlo/ir/types.h"
#include "hlo/opcode.h"

namespace toroid {

// Types whose values fill a lane: their bits can be read as one another's.
inline bool IsWord(PrimitiveType type) { return type == xla::F32 || type == xla::S32 || type == xla::U32; }
// The narrow floats that chains convert.
inline bool IsHalf(PrimitiveType type) { return type == xla::BF16 || type == xla::F16; }

enum class ChainDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };

// kConvert also between a narrow float and F32; kReducePrecision rounds F32 to what the narrow type `to` can state, and its
// result is F32 like its operand. kSelect: operands as HLO's.
struct ChainOp {
  Opcode opcode = Opcode::kUnknown;
  PrimitiveType from = xla::F32;                   // Of the operands; of kSelect, of the second and third.
  PrimitiveType to = xla::F32;                     // kConvert, kReducePrecision.
  ChainDirection direction = ChainDirection::kEq;  // kCompare.
  std::array<int, 3> operands = {-1, -1, -1};

  // The type of the result.
  PrimitiveType type() const;
  PrimitiveType OperandType(int operand) const {
    return opcode == Opcode::kSelect && operand == 0 ? xla::PRED : from;
  }
};

// Whether there is machine code for the op; operands are not looked at.
bool CanChain(const ChainOp& op);

struct Chain {
  std::vector<PrimitiveType> inputs;
  std::vector<ChainOp> ops;
  std::vector<int> outputs;  // Values.

  PrimitiveType TypeOf(int value) const;
};

// One line per value, such as "2 = multiply f32 (0, 1)".
std::string ToString(const Chain& chain);

}  // namespace toroid
