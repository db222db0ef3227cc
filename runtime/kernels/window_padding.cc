#include "runtime/kernels/window_padding.h"

#include <algorithm>

#include "hlo/base/math.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {
namespace {

constexpr int64_t kFar = int64_t{1} << 60;

int64_t Bounded(int64_t value) { return std::clamp(value, -kFar, kFar); }

}  // namespace

int64_t DilatedSize(int64_t n, int64_t dilation) {
  if (n <= 0) return 0;
  const std::optional<int64_t> size = CheckedMultiply(n - 1, std::max<int64_t>(1, dilation));
  return size.has_value() ? Bounded(*size) + 1 : kFar;
}

Dims PaddedDims(const Shape& shape, absl::Span<const WindowDim> window) {
  Dims dims;
  for (int d = 0; d < shape.rank(); ++d) {
    const WindowDim& w = window[d];
    dims.push_back(std::max<int64_t>(
        0, DilatedSize(shape.dim(d), w.base_dilation) + Bounded(w.padding_low) + Bounded(w.padding_high)));
  }
  return dims;
}

void PlaceInPadding(const Shape& shape, absl::Span<const WindowDim> window, int64_t width, int64_t rows,
                    bool x_uniform, const char* x, char* padded) {
  const Dims dims = PaddedDims(shape, window);
  const Dims strides = RowMajorStrides(shape.dims(), width), padded_strides = RowMajorStrides(dims, width);
  int64_t row_bytes = shape.NumElements() * width, padded_bytes = width;
  for (const int64_t size : dims) padded_bytes *= size;
  if (padded_bytes == 0 || row_bytes == 0) return;
  StridedLoop loop;
  loop.width = width;
  loop.Add(rows, x_uniform ? 0 : row_bytes, padded_bytes);
  int64_t source = 0, target = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const WindowDim& w = window[d];
    const int64_t low = Bounded(w.padding_low);
    const int64_t step = std::min(kFar, w.base_dilation);
    // Element k goes to low + k * step.
    const int64_t first = low >= 0 ? 0 : CeilOfSignedRatio(-low, step);
    if (low >= dims[d]) return;
    const int64_t end = std::min(shape.dim(d), (dims[d] - low - 1) / step + 1);
    if (end <= first) return;
    source += first * strides[d];
    target += (low + first * step) * padded_strides[d];
    loop.Add(end - first, strides[d], end - first > 1 ? step * padded_strides[d] : 0);
  }
  ParallelStridedCopy(std::move(loop), x + source, padded + target);
}

}  // namespace toroid
