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

}  // namespace toroid
