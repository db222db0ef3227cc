// BUILD: copts = ["-O3"]
#include "runtime/groups/view_lines.h"

#include <algorithm>
#include <cstring>

namespace toroid {
namespace {

struct Wide16 {
  uint64_t words[2];
};

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
  switch (width) {
    case 1:
      return Line<uint8_t>(from, stride, n, to);
    case 2:
      return Line<uint16_t>(from, stride, n, to);
    case 4:
      return Line<uint32_t>(from, stride, n, to);
    case 8:
      return Line<uint64_t>(from, stride, n, to);
    default:
      return Line<Wide16>(from, stride, n, to);
  }
}

}  // namespace toroid
