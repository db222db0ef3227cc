#include "runtime/loops/strided_loop.h"

#include <algorithm>
#include <cstdlib>

namespace toroid {

void StridedLoop::Simplify() {
  absl::InlinedVector<Dim, 6> merged;
  for (const Dim& dim : dims) {
    if (dim.size == 1) continue;
    if (!merged.empty()) {
      Dim& outer = merged.back();
      if (outer.source == dim.source * dim.size && outer.target == dim.target * dim.size) {
        outer = {outer.size * dim.size, dim.source, dim.target};
        continue;
      }
    }
    merged.push_back(dim);
  }
  dims = std::move(merged);
}

void StridedLoop::Optimize() {
  Simplify();
  // Row-major in the target: writes run forward.
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dim& a, const Dim& b) { return std::abs(a.target) > std::abs(b.target); });
  Simplify();
  if (dims.size() < 3) return;
  // The dimension that is contiguous in the source goes next to the innermost, for tiles.
  for (size_t i = 0; i + 2 < dims.size(); ++i) {
    if (dims[i].source == width && dims.back().source != width && dims[i].size >= 8) {
      std::rotate(dims.begin() + i, dims.begin() + i + 1, dims.end() - 1);
      break;
    }
  }
}

Dims RowMajorStrides(absl::Span<const int64_t> dims, int64_t width) {
  Dims strides(dims.size());
  int64_t stride = width;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

}  // namespace toroid
