#include "partitioner/ops/tile_windows.h"

#include "hlo/base/math.h"

namespace toroid {

int64_t TileRows(const Instruction& op, int dim, int64_t tiles) {
  const Shape& shape = op.shape().IsTuple() ? op.shape().tuple_shape(0) : op.shape();
  return CeilOfRatio(shape.dim(dim), tiles);
}

int64_t RowsSpanning(int64_t span, int64_t step) { return CeilOfRatio(span + step - 1, step); }

}  // namespace toroid
