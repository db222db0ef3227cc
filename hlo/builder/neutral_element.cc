#include "hlo/builder/neutral_element.h"

#include <limits>
#include <type_traits>

#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

template <typename T>
struct Extremes {
  static T Lowest() {
    return std::numeric_limits<T>::has_infinity ? static_cast<T>(-std::numeric_limits<T>::infinity())
                                                : std::numeric_limits<T>::lowest();
  }
  static T Largest() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
};
template <int kBits, bool kSigned>
struct Extremes<SmallInt<kBits, kSigned>> {
  using T = SmallInt<kBits, kSigned>;
  static T Lowest() { return T(kSigned ? -(1 << (kBits - 1)) : 0); }
  static T Largest() { return T((1 << (kSigned ? kBits - 1 : kBits)) - 1); }
};
template <int kExponentBits, int kMantissaBits, int kBias, SmallFloatKind kKind>
struct Extremes<SmallFloat<kExponentBits, kMantissaBits, kBias, kKind>> {
  using T = SmallFloat<kExponentBits, kMantissaBits, kBias, kKind>;
  static T Lowest() {
    return T::kHasInfinity ? T(-std::numeric_limits<double>::infinity()) : T::LowestFinite();
  }
  static T Largest() { return T::Infinity(); }
};

// The neutral element; nullopt if the op is not defined on T.
template <typename T>
std::optional<T> Element(Opcode opcode) {
  constexpr bool kComplexType = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
  switch (opcode) {
    case Opcode::kAdd:
      return T(0);
    case Opcode::kMultiply:
      return T(1);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      if (!IsInt(PrimitiveTypeOf<T>::value) && PrimitiveTypeOf<T>::value != xla::PRED) return std::nullopt;
      if (opcode != Opcode::kAnd) return T(0);
      return std::is_same_v<T, bool> ? T(1) : T(-1);
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      if constexpr (!kComplexType)
        return opcode == Opcode::kMaximum ? Extremes<T>::Lowest() : Extremes<T>::Largest();
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Literal> NeutralElement(Opcode opcode, PrimitiveType type) {
  return VisitArrayType(
      type,
      [&](auto tag) -> std::optional<Literal> {
        using T = typename decltype(tag)::type;
        const std::optional<T> element = Element<T>(opcode);
        if (!element) return std::nullopt;
        return Literal::Scalar<T>(*element);
      },
      std::optional<Literal>());
}

}  // namespace toroid
