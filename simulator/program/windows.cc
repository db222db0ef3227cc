#include "simulator/program/windows.h"

#include <algorithm>

#include "hlo/ir/attribute_views.h"

namespace toroid {

double WindowElements(const Instruction& op) {
  double elements = 1;
  const WindowView window(op);
  for (int i = 0; i < window.rank(); ++i)
    elements *= static_cast<double>(std::max<int64_t>(window[i].size, 1));
  return elements;
}

bool IsRunningFold(const Instruction& reduce_window) {
  const WindowView window(reduce_window);
  int folded = 0;
  for (int i = 0; i < window.rank(); ++i) {
    const WindowDim d = window[i];
    if (d.IsTrivial()) continue;
    // All up to an element, or from it on; with it or without.
    const bool runs = d.stride == 1 && d.base_dilation == 1 && d.window_dilation == 1 && d.size > 1 &&
                      d.padding_low + d.padding_high == d.size - 1 &&
                      std::max(d.padding_low, d.padding_high) >= d.size - 1;
    if (!runs) return false;
    ++folded;
  }
  return folded == 1;
}

}  // namespace toroid
