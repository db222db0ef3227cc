#include "partitioner/ops/tile_windows.h"

#include <algorithm>

#include "hlo/base/math.h"

namespace toroid {

int64_t TileRows(const Instruction& op, int dim, int64_t tiles) {
  const Shape& shape = op.shape().IsTuple() ? op.shape().tuple_shape(0) : op.shape();
  return CeilOfRatio(shape.dim(dim), tiles);
}

TileWindows SpreadWindows(int64_t scale, int64_t shift, int64_t span, int64_t step) {
  // The most rows in `span` positions, wherever these begin.
  int64_t rows = CeilOfRatio(span, step), reach = span;
  if (scale % step == 0) {
    // The positions begin at the same phase of `step` in every tile, so all windows have equally many rows.
    rows = FloorOfRatio(shift + span - 1, step) - CeilOfSignedRatio(shift, step) + 1;
    reach = 0;
  }
  return {.scale = scale,
          .shift = shift + step - 1,
          .length = std::max<int64_t>(1, rows),
          .divisor = step,
          .reach = reach};
}

TileWindows WindowsOf(const WindowDim& window, int64_t t) {
  const int64_t span = (t - 1) * window.stride + window.Extent();
  return SpreadWindows(t * window.stride, -window.padding_low, span, window.base_dilation);
}

TileWindows WindowsOfPart(const WindowDim& window, int64_t t, int64_t w) {
  const int64_t span = (w - 1) * window.stride + (t - 1) * window.window_dilation + 1;
  return SpreadWindows(t * window.window_dilation, -window.padding_low, span, window.base_dilation);
}

int64_t RowsRead(const WindowDim& window, int64_t outputs, int64_t n) {
  const int64_t last = (outputs - 1) * window.stride + window.Extent() - 1 - window.padding_low;
  return std::clamp<int64_t>(FloorOfRatio(last, window.base_dilation) + 1, 0, n);
}

Instruction* FetchBase(SpmdBuilder& b, Instruction* x, const AxisList& axes, int64_t w,
                       const OperandWindows& read, const WindowDim& window, Instruction* fill) {
  const int64_t positions = (w - 1) * window.stride + window.Extent();
  return FetchSpreadWindow(b, x, read.dim, read.size, axes, read.windows, positions, fill);
}

WindowDim OnFetchedBase(WindowDim window) {
  window.base_dilation = 1;
  window.padding_low = window.padding_high = 0;
  return window;
}

}  // namespace toroid
