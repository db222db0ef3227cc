#include "runtime/kernels/cumulative_window.h"

#include <algorithm>
#include <cstdlib>

namespace toroid {
namespace {

// out[i] = x[i].
bool IsIdentity(const WindowDim& w) {
  return w.size == 1 && w.stride == 1 && w.padding_low == 0 && w.padding_high == 0 && w.base_dilation == 1;
}

}  // namespace

std::optional<CumulativeWindow> FindCumulativeWindow(const Shape& operand, absl::Span<const WindowDim> window,
                                                     absl::Span<const int64_t> result_dims) {
  int dim = -1;
  for (int d = 0; d < operand.rank(); ++d) {
    if (IsIdentity(window[d])) continue;
    if (dim >= 0) return std::nullopt;
    dim = d;
  }
  if (dim < 0) return std::nullopt;
  const WindowDim& w = window[dim];
  constexpr int64_t kMost = int64_t{1} << 40;  // So that no sum below overflows.
  if (std::max({std::abs(w.size), std::abs(w.padding_low), operand.dim(dim), result_dims[dim]}) > kMost)
    return std::nullopt;
  if (w.size < 2 || w.stride != 1 || w.window_dilation != 1 || w.base_dilation != 1) return std::nullopt;
  // Window j covers the elements [j - padding_low, j - padding_low + size).
  const int64_t n = operand.dim(dim), count = result_dims[dim], low = w.padding_low, end = w.size - low;
  CumulativeWindow found{dim, /*reverse=*/false, /*skipped=*/0, /*rows=*/0, /*empty=*/0};
  if (low >= count - 1 && end <= 1 && count + end - 1 <= n) {
    found.empty = 1 - end;
  } else if (low <= 0 && end >= n && count - low >= n) {
    found.reverse = true;
    found.skipped = -low;
    found.empty = count - (n + low);
  } else {
    return std::nullopt;
  }
  found.rows = count - found.empty;
  if (found.rows <= 0) return std::nullopt;
  return found;
}

}  // namespace toroid
