// The C++ type that holds an element of each element type. Only for code that computes with elements, since
// the header takes a second to compile; code that only names types includes types.h.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "Eigen/Core"
#include "hlo/ir/small_float.h"
#include "hlo/ir/types.h"

namespace toroid {

using half = Eigen::half;
using bfloat16 = Eigen::bfloat16;
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// An integer of `kBits` < 8 bits in one byte; arithmetic wraps modulo 2^kBits on conversion.
template <int kBits, bool kSigned>
struct SmallInt {
  using Storage = std::conditional_t<kSigned, int8_t, uint8_t>;
  Storage value = 0;

  SmallInt() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit constexpr SmallInt(T v) {
    const uint8_t bits = static_cast<uint8_t>(static_cast<int64_t>(v)) & ((1 << kBits) - 1);
    if constexpr (kSigned) {
      value = static_cast<int8_t>(static_cast<int8_t>(bits << (8 - kBits)) >> (8 - kBits));
    } else {
      value = bits;
    }
  }
  constexpr operator Storage() const { return value; }
};
using int1 = SmallInt<1, true>;
using int2 = SmallInt<2, true>;
using int4 = SmallInt<4, true>;
using uint1 = SmallInt<1, false>;
using uint2 = SmallInt<2, false>;
using uint4 = SmallInt<4, false>;

template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <typename T>
constexpr bool kIsSmallInt = false;
template <int kBits, bool kSigned>
constexpr bool kIsSmallInt<SmallInt<kBits, kSigned>> = true;
template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T> || kIsSmallInt<T>;

// Calls visitor(TypeTag<T>{}) with the storage type T of an array element type. Returns visitor's result;
// `otherwise` for tuples, tokens and types without elements.
template <typename T>
struct TypeTag {
  using type = T;
};

template <typename Visitor, typename Result>
Result VisitArrayType(PrimitiveType type, Visitor&& visitor, Result otherwise) {
  switch (type) {
#define TOROID_CASE(enumerator, cpp) \
  case xla::enumerator:              \
    return visitor(TypeTag<cpp>{});
    TOROID_FOR_EACH_ARRAY_TYPE(TOROID_CASE)
#undef TOROID_CASE
    default:
      return otherwise;
  }
}

// For built-in C++ types: types.h.
#define TOROID_TRAIT(enumerator, cpp)                       \
  template <>                                               \
  struct PrimitiveTypeOf<cpp> {                             \
    static constexpr PrimitiveType value = xla::enumerator; \
  };
TOROID_TRAIT(S1, int1)
TOROID_TRAIT(S2, int2)
TOROID_TRAIT(S4, int4)
TOROID_TRAIT(U1, uint1)
TOROID_TRAIT(U2, uint2)
TOROID_TRAIT(U4, uint4)
TOROID_TRAIT(F16, half)
TOROID_TRAIT(BF16, bfloat16)
TOROID_TRAIT(F8E5M2, f8e5m2)
TOROID_TRAIT(F8E4M3, f8e4m3)
TOROID_TRAIT(F8E3M4, f8e3m4)
TOROID_TRAIT(F8E4M3FN, f8e4m3fn)
TOROID_TRAIT(F8E5M2FNUZ, f8e5m2fnuz)
TOROID_TRAIT(F8E4M3FNUZ, f8e4m3fnuz)
TOROID_TRAIT(F8E4M3B11FNUZ, f8e4m3b11fnuz)
TOROID_TRAIT(F8E8M0FNU, f8e8m0fnu)
TOROID_TRAIT(F6E3M2FN, f6e3m2fn)
TOROID_TRAIT(F6E2M3FN, f6e2m3fn)
TOROID_TRAIT(F4E2M1FN, f4e2m1fn)
TOROID_FOR_EACH_COMPLEX_TYPE(TOROID_TRAIT)
#undef TOROID_TRAIT

}  // namespace toroid
