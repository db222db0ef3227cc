// The elementwise operations on single values, one functor per opcode and class of types.
//
// Integers wrap modulo 2^bits, and every op is defined for every value. Floats narrower than float are
// computed in float and rounded once (block_convert.h). Source: the opcode tables "elementwise unary" and
// "elementwise binary" of the HLO semantics.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/float_functions.h"

namespace toroid {

template <typename T>
struct IntBits {
  static constexpr int value = 8 * sizeof(T);
  using Storage = T;
};
template <int kBits, bool kSigned>
struct IntBits<SmallInt<kBits, kSigned>> {
  static constexpr int value = kBits;
  using Storage = typename SmallInt<kBits, kSigned>::Storage;
};

// Arithmetic on integers of type T: values travel as `Value`, bits as `Unsigned`.
template <typename T>
struct IntOps {
  using Value = typename IntBits<T>::Storage;
  using Unsigned = std::make_unsigned_t<Value>;
  // Wide enough that products of narrow types do not overflow a promoted int.
  using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, Unsigned>;
  static constexpr int kBits = IntBits<T>::value;
  static constexpr bool kSigned = std::is_signed_v<Value>;
  static constexpr Wide kMask =
      kBits == 8 * sizeof(Wide) ? ~Wide{0} : (Wide{1} << (kBits % (8 * sizeof(Wide)))) - 1;
  static constexpr Wide kSignBit = Wide{1} << (kBits - 1);

  // The low kBits of the value.
  static constexpr Wide Bits(T x) { return static_cast<Wide>(static_cast<Value>(x)) & kMask; }
  // The value with these low bits.
  static constexpr T FromBits(Wide bits) {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<T>(static_cast<Unsigned>(bits));
    } else {
      return T(static_cast<int64_t>(bits & kMask));
    }
  }
  static constexpr bool Negative(T x) { return kSigned && (Bits(x) & kSignBit) != 0; }
  static constexpr Wide Magnitude(T x) { return (Negative(x) ? Wide{0} - Bits(x) : Bits(x)) & kMask; }

  static T Add(T a, T b) { return FromBits(Bits(a) + Bits(b)); }
  static T Subtract(T a, T b) { return FromBits(Bits(a) - Bits(b)); }
  static T Multiply(T a, T b) { return FromBits(Bits(a) * Bits(b)); }
  static T Divide(T a, T b) {
    if (Bits(b) == 0) return FromBits(~Wide{0});
    const Wide quotient = Magnitude(a) / Magnitude(b);
    return FromBits(Negative(a) != Negative(b) ? Wide{0} - quotient : quotient);
  }
  static T Remainder(T a, T b) {
    if (Bits(b) == 0) return a;
    const Wide rest = Magnitude(a) % Magnitude(b);
    return FromBits(Negative(a) ? Wide{0} - rest : rest);
  }
  static T Power(T base, T exponent) {
    if (Negative(exponent)) {
      if (Bits(base) == 1) return base;
      const bool minus_one = kSigned && Bits(base) == kMask;
      if (!minus_one) return FromBits(0);
      return FromBits(Bits(exponent) & 1 ? kMask : 1);
    }
    Wide result = 1, factor = Bits(base);
    for (Wide left = Bits(exponent); left != 0; left >>= 1) {
      if (left & 1) result *= factor;
      factor *= factor;
    }
    return FromBits(result);
  }
  static T MultiplyHigh(T a, T b) {
    if constexpr (kSigned) {
      const __int128 product = static_cast<__int128>(static_cast<Value>(a)) * static_cast<Value>(b);
      return FromBits(static_cast<Wide>(static_cast<unsigned __int128>(product) >> kBits));
    } else {
      const unsigned __int128 product = static_cast<unsigned __int128>(Bits(a)) * Bits(b);
      return FromBits(static_cast<Wide>(product >> kBits));
    }
  }
  static T Maximum(T a, T b) { return static_cast<Value>(a) < static_cast<Value>(b) ? b : a; }
  static T Minimum(T a, T b) { return static_cast<Value>(b) < static_cast<Value>(a) ? b : a; }
  static T And(T a, T b) { return FromBits(Bits(a) & Bits(b)); }
  static T Or(T a, T b) { return FromBits(Bits(a) | Bits(b)); }
  static T Xor(T a, T b) { return FromBits(Bits(a) ^ Bits(b)); }
  static T ShiftLeft(T a, T b) {
    return Bits(b) >= kBits ? FromBits(0) : FromBits(Bits(a) << (Bits(b) % kBits));
  }
  static T ShiftRightLogical(T a, T b) {
    return Bits(b) >= kBits ? FromBits(0) : FromBits(Bits(a) >> (Bits(b) % kBits));
  }
  static T ShiftRightArithmetic(T a, T b) {
    const Wide fill = Negative(a) || (!kSigned && (Bits(a) & kSignBit) != 0) ? kMask : 0;
    if (Bits(b) >= kBits) return FromBits(fill);
    const Wide amount = Bits(b) % kBits;
    return FromBits((Bits(a) >> amount) | (fill & ~(kMask >> amount)));
  }

  static T Abs(T x) { return FromBits(Magnitude(x)); }
  static T Negate(T x) { return FromBits(Wide{0} - Bits(x)); }
  static T Sign(T x) { return FromBits(Negative(x) ? kMask : Wide{Bits(x) != 0}); }
  static T Not(T x) { return FromBits(~Bits(x)); }
  static T PopulationCount(T x) { return FromBits(static_cast<Wide>(__builtin_popcountll(Bits(x)))); }
  static T CountLeadingZeros(T x) {
    const uint64_t bits = Bits(x);
    return FromBits(static_cast<Wide>(bits == 0 ? kBits : __builtin_clzll(bits) - (64 - kBits)));
  }
};

// T is float or double.
template <typename T>
struct FloatOps {
  static T Add(T a, T b) { return a + b; }
  static T Subtract(T a, T b) { return a - b; }
  static T Multiply(T a, T b) { return a * b; }
  static T Divide(T a, T b) { return a / b; }
  static T Remainder(T a, T b) { return std::fmod(a, b); }
  static T Power(T a, T b) { return std::pow(a, b); }
  // NaN if either is. The inner choice is one instruction of vectors, which gives b if there is a NaN.
  static T Maximum(T a, T b) {
    const T number = a > b ? a : b;
    return a != a ? a : number;
  }
  static T Minimum(T a, T b) {
    const T number = a < b ? a : b;
    return a != a ? a : number;
  }
  static T Atan2(T y, T x) { return std::atan2(y, x); }

  static T Abs(T x) { return std::fabs(x); }
  static T Negate(T x) { return -x; }
  static T Sign(T x) { return x > 0 ? T{1} : x < 0 ? T{-1} : x; }
  static T Floor(T x) { return std::floor(x); }
  static T Ceil(T x) { return std::ceil(x); }
  static T RoundAwayFromZero(T x) { return std::round(x); }
  static T RoundToEven(T x) { return std::nearbyint(x); }
  static T Exp(T x) {
    if constexpr (std::is_same_v<T, float>) return ExpOf<float>(x);
    return std::exp(x);
  }
  static T Expm1(T x) { return std::expm1(x); }
  static T Log(T x) {
    if constexpr (std::is_same_v<T, float>) return LogOf<float>(x);
    return std::log(x);
  }
  static T Log1p(T x) {
    if constexpr (std::is_same_v<T, float>) return Log1pOf<float>(x);
    return std::log1p(x);
  }
  static T Sqrt(T x) { return std::sqrt(x); }
  static T Rsqrt(T x) { return T{1} / std::sqrt(x); }
  static T Cbrt(T x) { return std::cbrt(x); }
  static T Logistic(T x) {
    if constexpr (std::is_same_v<T, float>) return LogisticOf<float>(x);
    return T{1} / (T{1} + Exp(-x));
  }
  static T Sin(T x) { return std::sin(x); }
  static T Cos(T x) { return std::cos(x); }
  static T Tan(T x) { return std::tan(x); }
  static T Sinh(T x) { return std::sinh(x); }
  static T Cosh(T x) { return std::cosh(x); }
  static T Tanh(T x) {
    if constexpr (std::is_same_v<T, float>) return TanhOf<float>(x);
    return std::tanh(x);
  }
  static T Asin(T x) { return std::asin(x); }
  static T Acos(T x) { return std::acos(x); }
  static T Asinh(T x) { return std::asinh(x); }
  static T Acosh(T x) { return std::acosh(x); }
  static T Atanh(T x) { return std::atanh(x); }
  static T Erf(T x) { return std::erf(x); }
};

// Complex numbers over R.
template <typename R>
struct ComplexOps {
  using T = std::complex<R>;
  static T Add(T a, T b) { return a + b; }
  static T Subtract(T a, T b) { return a - b; }
  static T Multiply(T a, T b) { return a * b; }
  static T Divide(T a, T b) { return a / b; }
  static T Power(T a, T b) {
    if (b == T(0) || a == T(1)) return T(1);
    if (a == T(0) && b.real() > 0) return T(0);
    return std::pow(a, b);
  }
  // -i log((x + i y) / sqrt(x^2 + y^2)).
  static T Atan2(T y, T x) {
    const T i(0, 1);
    return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
  }

  static T Negate(T x) { return -x; }
  static T Sign(T x) {
    const R magnitude = std::abs(x);
    return magnitude == 0 ? x : x / magnitude;
  }
  static T Exp(T x) { return x.imag() == 0 ? T(std::exp(x.real()), x.imag()) : std::exp(x); }
  // exp(a) cos b - 1 = expm1(a) cos b - 2 sin^2(b/2).
  static T Expm1(T x) {
    const R a = x.real(), b = x.imag(), s = std::sin(b / 2);
    return T(std::expm1(a) * std::cos(b) - 2 * s * s, b == 0 ? b : std::exp(a) * std::sin(b));
  }
  static T Log(T x) { return std::log(x); }
  // |1 + x|^2 - 1 = a (2 + a) + b^2.
  static T Log1p(T x) {
    const R a = x.real(), b = x.imag();
    if (std::fabs(a) > R(0.5) || std::fabs(b) > R(0.5)) return std::log(T(1 + a, b));
    return T(std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a));
  }
  static T Sqrt(T x) { return std::sqrt(x); }
  static T Rsqrt(T x) {
    if (x == T(0)) return T(std::numeric_limits<R>::infinity(), 0);
    return T(1) / std::sqrt(x);
  }
  static T Cbrt(T x) { return std::pow(x, R(1) / R(3)); }
  static T Logistic(T x) { return T(1) / (T(1) + std::exp(-x)); }
  static T Sin(T x) { return std::sin(x); }
  static T Cos(T x) { return std::cos(x); }
  static T Tan(T x) { return std::tan(x); }
  static T Sinh(T x) { return std::sinh(x); }
  static T Cosh(T x) { return std::cosh(x); }
  static T Tanh(T x) { return std::tanh(x); }
  static T Asin(T x) { return std::asin(x); }
  static T Acos(T x) { return std::acos(x); }
  static T Asinh(T x) { return std::asinh(x); }
  static T Acosh(T x) { return std::acosh(x); }
  static T Atanh(T x) { return std::atanh(x); }
};

}  // namespace toroid
