// BUILD: per_level
#include "runtime/loops/select_loops.h"

#include <type_traits>

#include "runtime/loops/element_widths.h"

namespace toroid::TOROID_LEVEL {
namespace {

template <typename T, bool kOneTrue, bool kOneFalse>
void ByElement(const bool* pred, const T* t, const T* f, T* out, int64_t n) {
  const T one_true = t[0], one_false = f[0];
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(pred);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T a = kOneTrue ? one_true : t[i], b = kOneFalse ? one_false : f[i];
    if constexpr (std::is_integral_v<T>) {
      // By a mask: compilers make vectors of it.
      const T chooses = static_cast<T>(0 - static_cast<T>(bytes[i] != 0));
      out[i] = static_cast<T>((a & chooses) | (b & ~chooses));
    } else {
      out[i] = bytes[i] != 0 ? a : b;
    }
  }
}

template <typename T>
void Loop(Elements<bool> pred, Elements<void> on_true, Elements<void> on_false, void* out, int64_t n) {
  if (n <= 0) return;
  const T* t = static_cast<const T*>(on_true.data);
  const T* f = static_cast<const T*>(on_false.data);
  T* z = static_cast<T*>(out);
  if (pred.stride == 0) {
    const T* chosen = *pred.data ? t : f;
    const int64_t stride = *pred.data ? on_true.stride : on_false.stride;
    for (int64_t i = 0; i < n; ++i) z[i] = chosen[i * stride];
  } else if (on_true.stride == 0) {
    on_false.stride == 0 ? ByElement<T, true, true>(pred.data, t, f, z, n)
                         : ByElement<T, true, false>(pred.data, t, f, z, n);
  } else {
    on_false.stride == 0 ? ByElement<T, false, true>(pred.data, t, f, z, n)
                         : ByElement<T, false, false>(pred.data, t, f, z, n);
  }
}

}  // namespace

SelectLoop FindSelectLoop(int64_t width) {
  return WithWidth(width, [](auto tag) -> SelectLoop { return Loop<decltype(tag)>; });
}

}  // namespace toroid::TOROID_LEVEL
