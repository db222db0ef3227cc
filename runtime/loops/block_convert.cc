// BUILD: per_level
// BUILD: copts = ["-fno-strict-aliasing"]
#include "runtime/loops/block_convert.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hlo/ir/native_types.h"

namespace toroid::TOROID_LEVEL {
namespace {

template <typename T>
inline constexpr bool kIsNarrow =
    IsSmallFloat<T>::value || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

// The 16 bits of bf16 nearest to a float, ties to even, NaN to the quiet NaN of its sign; as static_cast<bfloat16> gives them,
// but without branches.
inline uint32_t NearestBf16(uint32_t bits) {
  const uint32_t nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const uint32_t quiet = ((bits >> 16) & 0x8000) | 0x7FC0;
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? quiet : nearest;
}

void WidenBf16(const uint16_t* in, uint32_t* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = uint32_t{in[i]} << 16;
}

void NarrowToBf16(const uint32_t* in, uint16_t* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<uint16_t>(NearestBf16(in[i]));
}

}  // namespace

void NarrowToFloat(PrimitiveType type, const void* in, float* out, int64_t n) {
  if (type == xla::BF16)
    return WidenBf16(static_cast<const uint16_t*>(in), reinterpret_cast<uint32_t*>(out), n);
  VisitArrayType(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsNarrow<T>) {
          const T* values = static_cast<const T*>(in);
          for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(values[i]);
        }
        return 0;
      },
      0);
}

void FloatToNarrow(PrimitiveType type, const float* in, void* out, int64_t n) {
  if (type == xla::BF16)
    return NarrowToBf16(reinterpret_cast<const uint32_t*>(in), static_cast<uint16_t*>(out), n);
  VisitArrayType(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsNarrow<T>) {
          T* values = static_cast<T*>(out);
          for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(in[i]);
        }
        return 0;
      },
      0);
}

void RoundToNarrow(PrimitiveType type, const float* in, float* out, int64_t n) {
  if (type == xla::BF16) {
    const uint32_t* from = reinterpret_cast<const uint32_t*>(in);
    uint32_t* to = reinterpret_cast<uint32_t*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = NearestBf16(from[i]) << 16;
    return;
  }
  alignas(64) char narrow[2 * kConvertBlock];
  for (int64_t i = 0; i < n; i += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, n - i);
    FloatToNarrow(type, in + i, narrow, count);
    NarrowToFloat(type, narrow, out + i, count);
  }
}

}  // namespace toroid::TOROID_LEVEL
