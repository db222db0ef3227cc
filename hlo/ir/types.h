// Element types: names and widths. native_types.h has the C++ types of their elements.
//
// Storage: one element takes ByteWidth(type) bytes. Types narrower than a byte (s1..s4, u1..u4, f4, f6) take
// one byte each, the value in its low bits (sign-extended for signed integers).
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "hlo/proto/xla_data.pb.h"

namespace toroid {

using xla::PrimitiveType;

// F(type enumerator without prefix, C++ type): all element types. Most C++ types are those of native_types.h.
// clang-format off
#define TOROID_FOR_EACH_INT_TYPE(F)                                              \
  F(S1, int1) F(S2, int2) F(S4, int4)                                            \
  F(S8, int8_t) F(S16, int16_t) F(S32, int32_t) F(S64, int64_t)                  \
  F(U1, uint1) F(U2, uint2) F(U4, uint4)                                         \
  F(U8, uint8_t) F(U16, uint16_t) F(U32, uint32_t) F(U64, uint64_t)
#define TOROID_FOR_EACH_FLOAT_TYPE(F)                                            \
  F(F16, half) F(BF16, bfloat16) F(F32, float) F(F64, double)                    \
  F(F8E5M2, f8e5m2) F(F8E4M3, f8e4m3) F(F8E3M4, f8e3m4) F(F8E4M3FN, f8e4m3fn)    \
  F(F8E5M2FNUZ, f8e5m2fnuz) F(F8E4M3FNUZ, f8e4m3fnuz)                            \
  F(F8E4M3B11FNUZ, f8e4m3b11fnuz) F(F8E8M0FNU, f8e8m0fnu)                        \
  F(F6E3M2FN, f6e3m2fn) F(F6E2M3FN, f6e2m3fn) F(F4E2M1FN, f4e2m1fn)
#define TOROID_FOR_EACH_COMPLEX_TYPE(F) F(C64, complex64) F(C128, complex128)
#define TOROID_FOR_EACH_ARRAY_TYPE(F)                                            \
  F(PRED, bool) TOROID_FOR_EACH_INT_TYPE(F)                                      \
  TOROID_FOR_EACH_FLOAT_TYPE(F) TOROID_FOR_EACH_COMPLEX_TYPE(F)
// clang-format on

// The element type that a C++ type holds: PrimitiveTypeOf<float>::value is F32. This header has the built-in
// C++ types, native_types.h the others.
template <typename T>
struct PrimitiveTypeOf;
#define TOROID_TRAIT(enumerator, cpp)                       \
  template <>                                               \
  struct PrimitiveTypeOf<cpp> {                             \
    static constexpr PrimitiveType value = xla::enumerator; \
  };
TOROID_TRAIT(PRED, bool)
TOROID_TRAIT(S8, int8_t)
TOROID_TRAIT(S16, int16_t)
TOROID_TRAIT(S32, int32_t)
TOROID_TRAIT(S64, int64_t)
TOROID_TRAIT(U8, uint8_t)
TOROID_TRAIT(U16, uint16_t)
TOROID_TRAIT(U32, uint32_t)
TOROID_TRAIT(U64, uint64_t)
TOROID_TRAIT(F32, float)
TOROID_TRAIT(F64, double)
#undef TOROID_TRAIT

bool IsArrayType(PrimitiveType type);  // True for types with elements.
bool IsSignedInt(PrimitiveType type);
bool IsUnsignedInt(PrimitiveType type);  // False for PRED.
bool IsInt(PrimitiveType type);
bool IsFloat(PrimitiveType type);  // Real floating point.
bool IsComplex(PrimitiveType type);

// Bytes of a stored element; 0 for types without elements.
int64_t ByteWidth(PrimitiveType type);
// Significant bits of an element: 1 for PRED and S1, 4 for S4, 64 for C64; 0 for types without elements.
int64_t BitWidth(PrimitiveType type);

// C64 -> F32, C128 -> F64, others unchanged.
PrimitiveType RealTypeOf(PrimitiveType type);

// Text names: "f32", "pred", "token", ...; "tuple" and "invalid" for those without a spelling.
absl::string_view TypeName(PrimitiveType type);
std::optional<PrimitiveType> TypeFromName(absl::string_view name);

}  // namespace toroid
