// Floats of 4, 6 and 8 bits.
//
// One template covers all formats; a format is (exponent bits, mantissa bits, bias, what the top codes mean).
// Values convert to float exactly; from float they round to nearest even. Overflow gives infinity; in formats
// without infinity NaN; in formats without both the largest finite value. Arithmetic is done in float.
// Source: the float format table of the HLO wire format.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace toroid {

// The meaning of a format's top exponent and negative zero.
enum class SmallFloatKind {
  kIeee,    // infinities and NaNs as in IEEE 754
  kFn,      // no infinity; NaN = all exponent and mantissa bits set
  kFnuz,    // no infinity, no negative zero; NaN = its code
  kFinite,  // neither infinity nor NaN
  kScale,   // no sign, no zero, no mantissa: powers of two; NaN = all ones
};

template <int kExponentBits, int kMantissaBits, int kBias, SmallFloatKind kKind>
struct SmallFloat {
  static constexpr int kSignBits = kKind == SmallFloatKind::kScale ? 0 : 1;
  static constexpr int kWidth = kSignBits + kExponentBits + kMantissaBits;
  static constexpr int kCodes = 1 << kWidth;
  static constexpr uint8_t kSignMask = kSignBits ? 1 << (kWidth - 1) : 0;
  static constexpr uint8_t kMagnitudeMask = (1 << (kExponentBits + kMantissaBits)) - 1;

  uint8_t bits = 0;

  SmallFloat() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit SmallFloat(T value) : bits(Encode(static_cast<double>(value))) {}
  operator float() const { return Table()[bits & (kCodes - 1)]; }

  static SmallFloat FromBits(uint8_t bits) {
    SmallFloat result;
    result.bits = bits & (kCodes - 1);
    return result;
  }

  static constexpr bool kHasInfinity = kKind == SmallFloatKind::kIeee;
  static constexpr bool kHasNan = kKind != SmallFloatKind::kFinite;

  // Largest magnitude code that is a finite number.
  static constexpr uint8_t MaxFiniteMagnitude() {
    switch (kKind) {
      case SmallFloatKind::kIeee:
        return static_cast<uint8_t>((((1 << kExponentBits) - 1) << kMantissaBits) - 1);
      case SmallFloatKind::kFn:
      case SmallFloatKind::kScale:
        return kMagnitudeMask - 1;
      default:
        return kMagnitudeMask;
    }
  }

  static SmallFloat MaxFinite() { return FromBits(MaxFiniteMagnitude()); }
  static SmallFloat LowestFinite() {
    return kKind == SmallFloatKind::kScale ? FromBits(0) : FromBits(kSignMask | MaxFiniteMagnitude());
  }
  // The default quiet NaN; negative zero in formats without NaN.
  static SmallFloat QuietNan() {
    switch (kKind) {
      case SmallFloatKind::kIeee:
        return FromBits(static_cast<uint8_t>((((1 << kExponentBits) - 1) << kMantissaBits) |
                                             ((1 << kMantissaBits) >> 1)));
      case SmallFloatKind::kFn:
      case SmallFloatKind::kScale:
        return FromBits(kMagnitudeMask);
      default:
        return FromBits(kSignMask);
    }
  }
  static SmallFloat Infinity() { return kHasInfinity ? FromBits(MaxFiniteMagnitude() + 1) : MaxFinite(); }

 private:
  static const std::array<float, kCodes>& Table() {
    static const std::array<float, kCodes> table = [] {
      std::array<float, kCodes> t;
      for (int code = 0; code < kCodes; ++code) t[code] = Decode(static_cast<uint8_t>(code));
      return t;
    }();
    return table;
  }

  static float Decode(uint8_t code) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const uint8_t magnitude = code & kMagnitudeMask;
    const bool negative = (code & kSignMask) != 0;
    if constexpr (kKind == SmallFloatKind::kScale) {
      return code == kMagnitudeMask ? nan : std::ldexp(1.0f, code - kBias);
    } else {
      if (kKind == SmallFloatKind::kFnuz && code == kSignMask) return -nan;
      if (kHasNan && magnitude > MaxFiniteMagnitude()) {
        if (kHasInfinity && magnitude == MaxFiniteMagnitude() + 1) {
          return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
        }
        return negative ? -nan : nan;
      }
      const int exponent = magnitude >> kMantissaBits;
      const int mantissa = magnitude & ((1 << kMantissaBits) - 1);
      const float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissaBits)
                                        : std::ldexp(static_cast<float>((1 << kMantissaBits) + mantissa),
                                                     exponent - kBias - kMantissaBits);
      return negative ? -value : value;
    }
  }

  static uint8_t Encode(double value) {
    const bool negative = std::signbit(value);
    if constexpr (kKind == SmallFloatKind::kScale) {
      if (!(value > 0)) return kMagnitudeMask;  // NaN, zero, negative.
      if (std::isinf(value)) return kMagnitudeMask;
      int exponent;
      const double fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, in [0.5, 1).
      int code = exponent - 1 + kBias;
      // Nearest power of two, ties to the even code.
      if (fraction > 0.75 || (fraction == 0.75 && (code & 1))) ++code;
      if (code < 0) return 0;
      return code > MaxFiniteMagnitude() ? kMagnitudeMask : static_cast<uint8_t>(code);
    } else {
      const uint8_t sign = negative ? kSignMask : 0;
      if (std::isnan(value)) {
        const uint8_t nan = QuietNan().bits;
        return kKind == SmallFloatKind::kFnuz || kKind == SmallFloatKind::kFinite ? nan : (sign | nan);
      }
      const uint8_t overflow = kHasInfinity                     ? (sign | (MaxFiniteMagnitude() + 1))
                               : kKind == SmallFloatKind::kFn   ? (sign | kMagnitudeMask)
                               : kKind == SmallFloatKind::kFnuz ? kSignMask
                                                                : (sign | MaxFiniteMagnitude());
      const double magnitude = std::fabs(value);
      if (std::isinf(magnitude)) return overflow;
      if (magnitude == 0) return kKind == SmallFloatKind::kFnuz ? 0 : sign;
      int exponent;
      std::frexp(magnitude, &exponent);
      // Unit in the last place: the spacing of this format around the magnitude.
      const int ulp_exponent = std::max(exponent - 1, 1 - kBias) - kMantissaBits;
      const double scaled = std::ldexp(magnitude, -ulp_exponent);
      const double rounded = std::nearbyint(scaled);  // To nearest even.
      // Codes of one binade continue those of the one below, so the code is linear in `rounded`.
      const int64_t code =
          static_cast<int64_t>(rounded) +
          (static_cast<int64_t>(ulp_exponent + kMantissaBits - (1 - kBias)) << kMantissaBits);
      if (code > MaxFiniteMagnitude()) return overflow;
      if (code == 0) return kKind == SmallFloatKind::kFnuz ? 0 : sign;
      return sign | static_cast<uint8_t>(code);
    }
  }
};

using f8e5m2 = SmallFloat<5, 2, 15, SmallFloatKind::kIeee>;
using f8e4m3 = SmallFloat<4, 3, 7, SmallFloatKind::kIeee>;
using f8e3m4 = SmallFloat<3, 4, 3, SmallFloatKind::kIeee>;
using f8e4m3fn = SmallFloat<4, 3, 7, SmallFloatKind::kFn>;
using f8e5m2fnuz = SmallFloat<5, 2, 16, SmallFloatKind::kFnuz>;
using f8e4m3fnuz = SmallFloat<4, 3, 8, SmallFloatKind::kFnuz>;
using f8e4m3b11fnuz = SmallFloat<4, 3, 11, SmallFloatKind::kFnuz>;
using f8e8m0fnu = SmallFloat<8, 0, 127, SmallFloatKind::kScale>;
using f6e3m2fn = SmallFloat<3, 2, 3, SmallFloatKind::kFinite>;
using f6e2m3fn = SmallFloat<2, 3, 1, SmallFloatKind::kFinite>;
using f4e2m1fn = SmallFloat<2, 1, 1, SmallFloatKind::kFinite>;

template <typename T>
struct IsSmallFloat : std::false_type {};
template <int e, int m, int b, SmallFloatKind k>
struct IsSmallFloat<SmallFloat<e, m, b, k>> : std::true_type {};

}  // namespace toroid
