// BUILD: copts = ["-O3"]
#include "runtime/loops/block_convert.h"

#include <bit>
#include <type_traits>

#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

template <typename T>
inline constexpr bool kIsNarrow =
    IsSmallFloat<T>::value || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

}  // namespace

bool IsNarrowFloat(PrimitiveType type) {
  return VisitArrayType(
      type, [](auto tag) { return kIsNarrow<typename decltype(tag)::type>; }, false);
}

void NarrowToFloat(PrimitiveType type, const void* in, float* out, int64_t n) {
  VisitArrayType(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsNarrow<T>) {
          const T* values = static_cast<const T*>(in);
          if constexpr (std::is_same_v<
                            T,
                            bfloat16>) {  // The upper half of a float. Eigen's conversion is not vectorized.
            const uint16_t* bits = static_cast<const uint16_t*>(in);
            for (int64_t i = 0; i < n; ++i)
              out[i] = std::bit_cast<float>(static_cast<uint32_t>(bits[i]) << 16);
          } else {
            for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(values[i]);
          }
        }
        return 0;
      },
      0);
}

void FloatToNarrow(PrimitiveType type, const float* in, void* out, int64_t n) {
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

}  // namespace toroid
