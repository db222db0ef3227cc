// BUILD: copts = ["-O3"]
#include "runtime/loops/block_convert.h"

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
          for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(values[i]);
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
