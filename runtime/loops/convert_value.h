// Conversion of single values between element types.
//
// int -> int wraps; int -> float and float -> float round to nearest even; float -> int truncates toward
// zero, saturates at the ends of the range and gives 0 for NaN; anything -> pred is x != 0; complex -> real
// takes the real part; real -> complex has imaginary part 0.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/scalar_ops.h"

namespace toroid {

template <typename T>
struct IsSmallInt : std::false_type {};
template <int kBits, bool kSigned>
struct IsSmallInt<SmallInt<kBits, kSigned>> : std::true_type {};
template <typename T>
struct IsComplexType : std::false_type {};
template <typename R>
struct IsComplexType<std::complex<R>> : std::true_type {};

template <typename T>
inline constexpr bool kIsPred = std::is_same_v<T, bool>;
template <typename T>
inline constexpr bool kIsInt = (std::is_integral_v<T> && !kIsPred<T>) || IsSmallInt<T>::value;
template <typename T>
inline constexpr bool kIsReal = !kIsPred<T> && !kIsInt<T> && !IsComplexType<T>::value;

// Rounding twice, first to float and then to a narrower type, errs near ties. If the first rounding is to odd
// (an inexact result gets an odd last bit), the second is exact.
inline float DoubleToFloatRoundedToOdd(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  uint32_t bits;
  std::memcpy(&bits, &nearest, sizeof(bits));
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;  // Toward zero.
  bits |= 1;
  std::memcpy(&nearest, &bits, sizeof(bits));
  return nearest;
}

template <typename Int>
float IntToFloatRoundedToOdd(Int value) {
  const bool negative = value < 0;
  const uint64_t magnitude =
      negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int bits = magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude);
  float result;
  if (bits <= 24) {
    result = static_cast<float>(magnitude);
  } else {
    const int dropped = bits - 24;
    const uint64_t sticky = (magnitude & ((uint64_t{1} << dropped) - 1)) != 0;
    result = std::ldexp(static_cast<float>((magnitude >> dropped) | sticky), dropped);
  }
  return negative ? -result : result;
}

// A floating-point value of type float or double as an integer.
template <typename To, typename From>
To SaturatingToInt(From value) {
  using Value = typename IntBits<To>::Storage;
  constexpr int kBits = IntBits<To>::value;
  constexpr bool kSigned = std::is_signed_v<Value>;
  // -2^(bits-1) and 2^(bits-1), or 0 and 2^bits, are exact in From.
  constexpr From kHalf = static_cast<From>(uint64_t{1} << (kBits - 1));
  constexpr From low = kSigned ? -kHalf : From{0};
  constexpr From end = kSigned ? kHalf : 2 * kHalf;
  using Wide = std::conditional_t<kSigned, int64_t, uint64_t>;
  constexpr Wide kLow = kSigned ? static_cast<Wide>(~uint64_t{0} << (kBits - 1)) : Wide{0};
  constexpr Wide kHigh =
      kSigned ? static_cast<Wide>((uint64_t{1} << (kBits - 1)) - 1)
              : static_cast<Wide>(kBits == 64 ? ~uint64_t{0} : (uint64_t{1} << (kBits % 64)) - 1);
  if constexpr (kBits <= 32) {
    // Without branches, for the sake of vectors. The greatest number below `end` is converted in its place.
    using Narrow = std::conditional_t<kSigned || (kBits < 32), int32_t, int64_t>;
    constexpr int kDropped = std::numeric_limits<From>::digits - (kSigned ? kBits - 1 : kBits);
    constexpr From greatest =
        end - (kDropped >= 0 ? From{1} : static_cast<From>(uint64_t{1} << -(kDropped < 0 ? kDropped : 0)));
    const From number = value == value ? value : From{0};
    const From above = number > low ? number : low, within = above < greatest ? above : greatest;
    const Narrow whole = static_cast<Narrow>(within);
    if constexpr (kDropped >= 0) return To(static_cast<Value>(whole));  // The greatest number is kHigh.
    return To(static_cast<Value>(value >= end ? static_cast<Narrow>(kHigh) : whole));
  } else {
    if (!(value == value)) return To(0);
    if (value <= low) return To(static_cast<Value>(kLow));
    if (value >= end) return To(static_cast<Value>(kHigh));
    return To(static_cast<Value>(static_cast<Wide>(value)));
  }
}

template <typename To, typename From>
To ConvertValue(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (IsComplexType<From>::value) {
    if constexpr (kIsPred<To>) {
      return value != From(0);
    } else if constexpr (IsComplexType<To>::value) {
      return To(value);
    } else {
      return ConvertValue<To>(value.real());
    }
  } else if constexpr (IsComplexType<To>::value) {
    return To(ConvertValue<typename To::value_type>(value), 0);
  } else if constexpr (kIsPred<To>) {
    if constexpr (kIsInt<From>) {
      return static_cast<typename IntBits<From>::Storage>(value) != 0;
    } else if constexpr (std::is_same_v<From, double>) {
      return value != 0;
    } else {
      return static_cast<float>(value) != 0;
    }
  } else if constexpr (kIsPred<From>) {
    return To(static_cast<float>(value));
  } else if constexpr (kIsInt<From> && kIsInt<To>) {
    return To(static_cast<typename IntBits<From>::Storage>(value));
  } else if constexpr (kIsInt<From>) {
    const auto integer = static_cast<typename IntBits<From>::Storage>(value);
    if constexpr (std::is_floating_point_v<To>) {
      return static_cast<To>(integer);
    } else {
      return To(IntToFloatRoundedToOdd(integer));
    }
  } else if constexpr (kIsInt<To>) {
    if constexpr (std::is_same_v<From, double>) {
      return SaturatingToInt<To>(value);
    } else {
      return SaturatingToInt<To>(static_cast<float>(value));
    }
  } else if constexpr (std::is_same_v<From, double> && !std::is_same_v<To, float> &&
                       !IsSmallFloat<To>::value) {
    return To(DoubleToFloatRoundedToOdd(value));
  } else if constexpr (std::is_same_v<From, double> || std::is_same_v<To, double> ||
                       std::is_same_v<To, float>) {
    return static_cast<To>(value);
  } else {
    return static_cast<To>(static_cast<float>(value));
  }
}

}  // namespace toroid
