// Elements that are only moved: any type of the same width serves.
#pragma once

#include <cstdint>

namespace toroid {

// Contiguous elements, or, with stride 0, one element used for all.
template <typename T>
struct Elements {
  const T* data;
  int64_t stride;
};

struct Wide16 {
  uint64_t words[2];
};

// Calls f with a value of the type that has `width` bytes: 1, 2, 4, 8 or 16.
template <typename F>
auto WithWidth(int64_t width, F&& f) {
  switch (width) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Wide16{});
  }
}

}  // namespace toroid
