// BUILD: copts = ["-O3"]
#include "runtime/groups/view_lines.h"

#include <algorithm>
#include <cstring>

#include "runtime/loops/element_widths.h"

namespace toroid {
namespace {

template <typename T>
void Line(const char* from, int64_t stride, int64_t n, char* to) {
  const T* x = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  if (stride == 1) {
    std::memcpy(out, x, n * sizeof(T));
  } else if (stride == 0) {
    std::fill_n(out, n, *x);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = x[i * stride];
  }
}

}  // namespace

void CopyLine(int64_t width, const char* from, int64_t stride, int64_t n, char* to) {
  WithWidth(width, [&](auto tag) { Line<decltype(tag)>(from, stride, n, to); });
}

}  // namespace toroid
