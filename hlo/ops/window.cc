#include "hlo/ops/window.h"

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

absl::StatusOr<int64_t> WindowedSize(absl::string_view constraint, int64_t n,
                                     const xla::WindowDimension& window) {
  if (window.size() < 0 || window.stride() < 1 || window.base_dilation() < 1 ||
      window.window_dilation() < 1) {
    return Violates(
        constraint,
        absl::StrCat("a window of size ", window.size(), ", stride ", window.stride(), ", base dilation ",
                     window.base_dilation(), ", window dilation ", window.window_dilation()),
        "use a size of 0 or more, the others 1 or more");
  }
  std::optional<int64_t> room = CheckedDilate(n, window.base_dilation());
  for (const int64_t padding : {window.padding_low(), window.padding_high()}) {
    if (room) room = CheckedAdd(*room, padding);
  }
  const std::optional<int64_t> extent = CheckedDilate(window.size(), window.window_dilation());
  if (room && extent) room = CheckedAdd(*room, -*extent);
  // Positions inside kernels are computed as output * stride + window * dilation - low.
  const bool too_large = !room || !extent || !CheckedMultiply(*room < 0 ? 0 : *room, 4) ||
                         !CheckedMultiply(*extent, 4) || !CheckedMultiply(window.padding_low(), 4) ||
                         !CheckedMultiply(window.padding_high(), 4);
  if (too_large) return Violates(constraint, "the sizes of a window overflow");
  return *room < 0 ? 0 : *room / window.stride() + 1;
}

}  // namespace toroid
