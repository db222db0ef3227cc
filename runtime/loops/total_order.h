// Total order of floats: their bits as sign-magnitude numbers, mapped to two's complement integers.
//   -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN, NaNs among themselves by payload.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"

namespace toroid {

template <typename T>
using TotalOrderKey = std::conditional_t<
    sizeof(T) == 8, int64_t,
    std::conditional_t<sizeof(T) == 4, int32_t, std::conditional_t<sizeof(T) == 2, int16_t, int8_t>>>;

// T is a real floating-point type.
template <typename T>
TotalOrderKey<T> ToTotalOrder(T value) {
  using Key = TotalOrderKey<T>;
  if constexpr (IsSmallFloat<T>::value) {
    // The type has fewer than 8 bits, or no sign.
    if constexpr (T::kSignMask == 0) return static_cast<Key>(value.bits ^ 0x80);
    const Key magnitude = static_cast<Key>(value.bits & T::kMagnitudeMask);
    return value.bits & T::kSignMask ? static_cast<Key>(~magnitude) : magnitude;
  } else {
    using Bits = std::make_unsigned_t<Key>;
    Key bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const Bits mask = static_cast<Bits>(static_cast<Bits>(-static_cast<Bits>(bits < 0)) >> 1);
    return static_cast<Key>(static_cast<Bits>(bits) ^ mask);
  }
}

}  // namespace toroid
