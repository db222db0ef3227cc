// BUILD: per_level
#include "runtime/loops/int_loops.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/scalar_ops.h"

namespace toroid::TOROID_LEVEL {
namespace {

// Quotients of 32-bit numbers by way of double, which holds both exactly: a quotient that is no integer is at least 2^-32 of
// itself from the next one, and the rounding errs by 2^-53 of it. Vectors have no integer division.
// Division by 0 gives all bits, its rest the dividend; without a branch, for the sake of vectors.
template <typename T>
T WholePart(double quotient) {
  // The last bits of a double near 2^52 are those of an integer. Vectors have no conversion to 64 bits below AVX-512.
  return static_cast<T>(static_cast<uint32_t>(std::bit_cast<uint64_t>(std::trunc(quotient) + 0x1.8p52)));
}
template <typename T>
T QuotientByOneOrMore(T a, T b) {
  return WholePart<T>(static_cast<double>(a) / static_cast<double>(b | static_cast<T>(b == 0)));
}
template <typename T>
T DivideWord(T a, T b) {
  return QuotientByOneOrMore(a, b) | static_cast<T>(-static_cast<T>(b == 0));
}
template <typename T>
T RemainderWord(T a, T b) {
  using Ops = IntOps<T>;
  return Ops::Subtract(a, Ops::Multiply(QuotientByOneOrMore(a, b), b));
}

// By one divisor for all: products with its inverse. Rounded away from zero, the inverse errs by less than 2^-51 of itself,
// which takes no quotient to the next integer, and exact quotients not below themselves.
template <typename T, bool kRest>
void DivisionsByOne(const T* a, T b, T* out, int64_t n) {
  const double inverse = std::nextafter(1.0 / static_cast<double>(b), b < T{0} ? -1.0 : 1.0);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T quotient = WholePart<T>(static_cast<double>(a[i]) * inverse);
    out[i] = kRest ? IntOps<T>::Subtract(a[i], IntOps<T>::Multiply(quotient, b)) : quotient;
  }
}
template <typename T, bool kRest>
void DivideWords(const void* a, const void* b, void* out, int64_t n, Repeat repeat) {
  const T divisor = n > 0 ? *static_cast<const T*>(b) : T{0};
  if (repeat == Repeat::kSecond && divisor != 0)
    return DivisionsByOne<T, kRest>(static_cast<const T*>(a), divisor, static_cast<T*>(out), n);
  LoopOfTwo<T, T, kRest ? RemainderWord<T> : DivideWord<T>>(a, b, out, n, repeat);
}

// Shifts of 32-bit numbers; by 32 or more everything is shifted out.
template <typename T>
T ShiftLeftWord(T a, T b) {
  const uint32_t by = static_cast<uint32_t>(b);
  return static_cast<T>(by > 31 ? 0 : static_cast<uint32_t>(a) << (by & 31));
}
template <typename T>
T ShiftRightLogicalWord(T a, T b) {
  const uint32_t by = static_cast<uint32_t>(b);
  return static_cast<T>(by > 31 ? 0 : static_cast<uint32_t>(a) >> (by & 31));
}
template <typename T>
T ShiftRightArithmeticWord(T a, T b) {
  const uint32_t by = static_cast<uint32_t>(b);
  return static_cast<T>(static_cast<int32_t>(a) >> (by > 31 ? 31 : by));
}

template <typename T>
constexpr bool kIsWord = std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>;

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
      if constexpr (kIsWord<T>) return DivideWords<T, false>;
      return LoopOfTwo<T, T, Ops::Divide>;
    case Opcode::kRemainder:
      if constexpr (kIsWord<T>) return DivideWords<T, true>;
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
      if constexpr (kIsWord<T>) return LoopOfTwo<T, T, ShiftLeftWord<T>>;
      return LoopOfTwo<T, T, Ops::ShiftLeft>;
    case Opcode::kShiftRightLogical:
      if constexpr (kIsWord<T>) return LoopOfTwo<T, T, ShiftRightLogicalWord<T>>;
      return LoopOfTwo<T, T, Ops::ShiftRightLogical>;
    case Opcode::kShiftRightArithmetic:
      if constexpr (kIsWord<T>) return LoopOfTwo<T, T, ShiftRightArithmeticWord<T>>;
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

}  // namespace toroid::TOROID_LEVEL
