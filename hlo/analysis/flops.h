// Work of one instruction, as its shapes tell it.
#ifndef TOROID_HLO_ANALYSIS_FLOPS_H_
#define TOROID_HLO_ANALYSIS_FLOPS_H_

#include <cstdint>

#include "hlo/ir/instruction.h"

namespace toroid {

// a + b and a * b of numbers that are not negative; the largest int64 where they exceed it.
int64_t SaturatingAdd(int64_t a, int64_t b);
int64_t SaturatingMultiply(int64_t a, int64_t b);

// Multiplications and additions:
//   dot          2 x result x contracted elements
//   convolution  2 x result x kernel elements per output feature
// Other ops count nothing. Example: f32[64,512] = dot(f32[64,128], f32[128,512]) is 2 x 32768 x 128 =
// 8388608.
// The instruction need not be valid: dimensions that its operands do not have count nothing.
int64_t Flops(const Instruction& instruction);

// Whether the op makes no array of its own: it names its operands in another way, or is a parameter.
bool IsView(Opcode opcode);

// Bytes of the arrays of a shape.
int64_t ArrayBytes(const Shape& shape);

// Bytes of all operands and of the result; nothing for views, constants, and for calls, loops and branches,
// whose bodies count instead.
struct BytesMoved {
  int64_t read = 0;
  int64_t written = 0;
};
BytesMoved MovedBytes(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_FLOPS_H_
