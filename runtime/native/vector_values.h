// Values of machine code that is being written: lanes of 32 bits, with the operators of the numbers they stand for.
//
//   Floats y = x * x + 1.0f;   // Appends a multiplication and an addition.
//
// A function template over `float` (../loops/float_functions.h) appends, given Floats, what computes it. A number that stands
// alone is a constant until an op reads it. AVX2.
#pragma once

#include <bit>
#include <cstdint>

#include "asmjit/x86.h"

namespace toroid {

// Registers of machine code with elements that follow one another, or the same constant for all. What computes two registers is
// appended for one and the other in turn: a long chain of ops leaves the processor nothing else to do while it waits for a
// result.
struct Lanes {
  static constexpr int kMostRegisters = 2;

  asmjit::x86::Compiler* code = nullptr;  // Null for constants.
  int registers = 1;
  asmjit::x86::Ymm reg[kMostRegisters];
  uint32_t constant = 0;
};

// The constant in memory, for the last operand of an instruction.
inline asmjit::x86::Mem InMemory(asmjit::x86::Compiler& code, uint32_t constant) {
  const uint32_t lanes[8] = {constant, constant, constant, constant, constant, constant, constant, constant};
  return code.newConst(asmjit::ConstPoolScope::kLocal, lanes, sizeof(lanes));
}

// Register i of the value.
inline asmjit::x86::Ymm InRegister(asmjit::x86::Compiler& code, const Lanes& value, int i) {
  if (value.code != nullptr) return value.reg[i];
  const asmjit::x86::Ymm reg = code.newYmm();
  code.vmovaps(reg, InMemory(code, value.constant));
  return reg;
}

inline Lanes NewLanes(asmjit::x86::Compiler& code, int registers) {
  Lanes lanes{&code, registers, {}, 0};
  for (int i = 0; i < registers; ++i) lanes.reg[i] = code.newYmm();
  return lanes;
}

// Appends `op(result, a, b)`, an instruction of three registers whose last may be memory.
template <typename Op>
Lanes Append(const Lanes& a, const Lanes& b, Op op) {
  const Lanes& like = a.code != nullptr ? a : b;
  asmjit::x86::Compiler& code = *like.code;
  const Lanes result = NewLanes(code, like.registers);
  for (int i = 0; i < like.registers; ++i) {
    const asmjit::x86::Ymm first = InRegister(code, a, i);
    if (b.code == nullptr) {
      op(code, result.reg[i], first, InMemory(code, b.constant));
    } else {
      op(code, result.reg[i], first, b.reg[i]);
    }
  }
  return result;
}
template <typename Op>
Lanes Append(const Lanes& a, Op op) {
  const Lanes result = NewLanes(*a.code, a.registers);
  for (int i = 0; i < a.registers; ++i) op(*a.code, result.reg[i], a.reg[i]);
  return result;
}

#define TOROID_LANES_OF_TWO(instruction) \
  [](auto& code, const auto& to, const auto& a, const auto& b) { code.instruction(to, a, b); }
#define TOROID_LANES_OF_ONE(instruction) \
  [](auto& code, const auto& to, const auto& a) { code.instruction(to, a); }

// All bits of a lane set, or none.
struct Mask {
  Lanes lanes;
};

struct Floats;

// Whole numbers of 32 bits, modulo 2^32; right shifts keep the sign.
struct Ints {
  Lanes lanes;

  Ints(Lanes value) : lanes(value) {}                                           // NOLINT
  Ints(int32_t value) : lanes{nullptr, 1, {}, static_cast<uint32_t>(value)} {}  // NOLINT
  Ints(uint32_t value) : lanes{nullptr, 1, {}, value} {}                        // NOLINT
};

struct Floats {
  Lanes lanes;

  Floats(Lanes value) : lanes(value) {}                                           // NOLINT
  Floats(float value) : lanes{nullptr, 1, {}, std::bit_cast<uint32_t>(value)} {}  // NOLINT
};

inline Floats operator+(const Floats& a, const Floats& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vaddps));
}
inline Floats operator-(const Floats& a, const Floats& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vsubps));
}
inline Floats operator*(const Floats& a, const Floats& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vmulps));
}
inline Floats operator/(const Floats& a, const Floats& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vdivps));
}

inline Ints operator+(const Ints& a, const Ints& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpaddd));
}
inline Ints operator-(const Ints& a, const Ints& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpsubd));
}
inline Ints operator*(const Ints& a, const Ints& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpmulld));
}
inline Ints operator&(const Ints& a, const Ints& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpand));
}
inline Ints operator|(const Ints& a, const Ints& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpor));
}
inline Ints operator^(const Ints& a, const Ints& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpxor));
}
inline Ints operator<<(const Ints& a, int bits) {
  return Append(a.lanes, [bits](auto& code, const auto& to, const auto& x) { code.vpslld(to, x, bits); });
}
inline Ints operator>>(const Ints& a, int bits) {
  return Append(a.lanes, [bits](auto& code, const auto& to, const auto& x) { code.vpsrad(to, x, bits); });
}
inline Ints ShiftRightLogical(const Ints& a, int bits) {
  return Append(a.lanes, [bits](auto& code, const auto& to, const auto& x) { code.vpsrld(to, x, bits); });
}

// Predicates of vcmpps; all false if one is not a number, but for kNe.
enum class FloatOrder : uint8_t { kEq = 0x00, kNe = 0x04, kLt = 0x11, kLe = 0x12, kGe = 0x1D, kGt = 0x1E };
inline Mask Compare(const Floats& a, const Floats& b, FloatOrder order) {
  return {Append(a.lanes, b.lanes, [order](auto& code, const auto& to, const auto& x, const auto& y) {
    code.vcmpps(to, x, y, static_cast<int>(order));
  })};
}
inline Mask operator<(const Floats& a, const Floats& b) { return Compare(a, b, FloatOrder::kLt); }
inline Mask operator>(const Floats& a, const Floats& b) { return Compare(a, b, FloatOrder::kGt); }
inline Mask operator>=(const Floats& a, const Floats& b) { return Compare(a, b, FloatOrder::kGe); }
inline Mask operator==(const Floats& a, const Floats& b) { return Compare(a, b, FloatOrder::kEq); }
inline Mask IsNan(const Floats& x) { return Compare(x, x, FloatOrder::kNe); }
inline Mask operator>(const Ints& a, const Ints& b) {
  return {Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpcmpgtd))};
}
inline Mask operator==(const Ints& a, const Ints& b) {
  return {Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpcmpeqd))};
}
inline Mask operator&(const Mask& a, const Mask& b) { return {(Ints(a.lanes) & Ints(b.lanes)).lanes}; }
inline Mask operator|(const Mask& a, const Mask& b) { return {(Ints(a.lanes) | Ints(b.lanes)).lanes}; }
inline Mask operator!(const Mask& a) { return {(Ints(a.lanes) ^ Ints(~0u)).lanes}; }

inline Lanes Blend(const Mask& condition, const Lanes& on_true, const Lanes& on_false) {
  const Lanes& mask = condition.lanes;
  const Lanes result = NewLanes(*mask.code, mask.registers);
  for (int i = 0; i < mask.registers; ++i) {
    const asmjit::x86::Ymm other = InRegister(*mask.code, on_false, i),
                           value = InRegister(*mask.code, on_true, i);
    mask.code->vblendvps(result.reg[i], other, value, mask.reg[i]);
  }
  return result;
}
inline Floats Choose(const Mask& condition, const Floats& on_true, const Floats& on_false) {
  return Blend(condition, on_true.lanes, on_false.lanes);
}
inline Ints Choose(const Mask& condition, const Ints& on_true, const Ints& on_false) {
  return Blend(condition, on_true.lanes, on_false.lanes);
}

// One instruction each: the second operand if either is not a number, or both are zero.
inline Floats GreaterOrSecond(const Floats& a, const Floats& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vmaxps));
}
inline Floats LesserOrSecond(const Floats& a, const Floats& b) {
  return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vminps));
}

inline Ints BitsOf(const Floats& x) { return x.lanes; }
inline Floats FloatOfBits(const Ints& x) { return x.lanes; }
inline Floats operator-(const Floats& x) { return FloatOfBits(BitsOf(x) ^ Ints(0x80000000u)); }
inline Floats Magnitude(const Floats& x) { return FloatOfBits(BitsOf(x) & Ints(0x7FFFFFFFu)); }
inline Floats PositiveWithSignOf(const Floats& magnitude, const Floats& sign) {
  return FloatOfBits(BitsOf(magnitude) | (BitsOf(sign) & Ints(0x80000000u)));
}
inline Floats SquareRoot(const Floats& x) { return Append(x.lanes, TOROID_LANES_OF_ONE(vsqrtps)); }
inline Floats ToFloat(const Ints& x) { return Append(x.lanes, TOROID_LANES_OF_ONE(vcvtdq2ps)); }
// Toward zero; 0x80000000 for what is outside.
inline Ints Truncated(const Floats& x) { return Append(x.lanes, TOROID_LANES_OF_ONE(vcvttps2dq)); }

}  // namespace toroid
