#include "partitioner/ops/window_base.h"

#include "partitioner/reshard/halo_exchange.h"

namespace toroid {

TileWindows WindowsOf(const WindowDim& window, int64_t t) {
  const int64_t span = (t - 1) * window.stride + window.Extent();
  return SpreadWindows(t * window.stride, -window.padding_low, span, window.base_dilation);
}

TileWindows WindowsOfPart(const WindowDim& window, int64_t t, int64_t w) {
  const int64_t span = (w - 1) * window.stride + (t - 1) * window.window_dilation + 1;
  return SpreadWindows(t * window.window_dilation, -window.padding_low, span, window.base_dilation);
}

Instruction* FetchBase(SpmdBuilder& b, Instruction* x, const AxisList& axes, int64_t w, const OperandWindows& read,
                       const WindowDim& window, Instruction* fill) {
  const int64_t positions = (w - 1) * window.stride + window.Extent();
  return FetchSpreadWindow(b, x, {read.dim, read.size, axes}, read.windows, positions, fill);
}

WindowDim OnFetchedBase(WindowDim window) {
  window.base_dilation = 1;
  window.padding_low = window.padding_high = 0;
  return window;
}

}  // namespace toroid
