#include "hlo/ops/window.h"

#include <algorithm>
#include <optional>

#include "hlo/base/math.h"
#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

std::optional<int64_t> CheckedDilate(int64_t size, int64_t dilation) {
  if (size == 0) return 0;
  const std::optional<int64_t> product = CheckedMultiply(size - 1, dilation);
  return product ? CheckedAdd(*product, 1) : std::nullopt;
}

}  // namespace

absl::StatusOr<WindowSizes> SizesUnderWindow(absl::string_view constraint, int64_t n,
                                             const xla::WindowDimension& window) {
  if (window.size() < 0 || window.stride() < 1 || window.base_dilation() < 1 ||
      window.window_dilation() < 1) {
    return Violates(constraint, "window",
                    absl::StrCat("size ", window.size(), ", stride ", window.stride(), ", base dilation ",
                                 window.base_dilation(), ", window dilation ", window.window_dilation()),
                    "a size of 0 or more, the others 1 or more");
  }
  std::optional<int64_t> padded = CheckedDilate(n, window.base_dilation());
  for (const int64_t padding : {window.padding_low(), window.padding_high()}) {
    if (padded) padded = CheckedAdd(*padded, padding);
  }
  const std::optional<int64_t> extent = CheckedDilate(window.size(), window.window_dilation());
  std::optional<int64_t> room;
  if (padded && extent) room = CheckedAdd(*padded, -*extent);
  // Positions inside kernels are computed as output * stride + window * dilation - low.
  bool fits = room.has_value();
  for (const int64_t value :
       {room.value_or(0), extent.value_or(0), window.padding_low(), window.padding_high(), window.stride(),
        window.base_dilation(), window.window_dilation()}) {
    fits = fits && CheckedMultiply(value, 4).has_value();
  }
  if (!fits) {
    return Violates(constraint, "window", window.ShortDebugString(), "sizes that do not overflow 64 bits");
  }
  return WindowSizes{*room < 0 ? 0 : *room / window.stride() + 1, std::max<int64_t>(*padded, 0)};
}

}  // namespace toroid
