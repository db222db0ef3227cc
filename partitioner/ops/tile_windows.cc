#include "partitioner/ops/tile_windows.h"

#include <algorithm>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

const Shape& ResultShape(const Instruction& op) {
  return op.shape().IsTuple() ? op.shape().tuple_shape(0) : op.shape();
}

// As many rows as `span` positions touch that are `step` apart.
int64_t RowsSpanning(int64_t span, int64_t step) { return CeilOfRatio(span + step - 1, step); }

TileWindows WindowsOf(const WindowDim& window, int64_t t) {
  const int64_t span = (t - 1) * window.stride + window.Extent();
  return {t * window.stride, -window.padding_low, RowsSpanning(span, window.base_dilation), window.base_dilation};
}

}  // namespace

int CumulativeDirection(const Instruction& op, int dim) {
  if (op.opcode() != Opcode::kReduceWindow || op.num_operands() != 2) return 0;
  const WindowDim window = WindowView(op)[dim];
  const int64_t n = op.operand(0)->shape().dim(dim);
  if (n < 2 || window.size != n || window.stride > 1 || window.window_dilation > 1 || window.base_dilation > 1) {
    return 0;
  }
  const bool forward = window.padding_low == n - 1 && window.padding_high == 0;
  const bool backward = window.padding_low == 0 && window.padding_high == n - 1;
  if ((!forward && !backward) || !StartsNeutral(op)) return 0;
  return forward ? 1 : -1;
}

std::vector<OperandWindows> ReadsOfTiles(const Instruction& op, int dim, int64_t tiles) {
  const int64_t size = ResultShape(op).dim(dim);
  const int64_t t = CeilOfRatio(size, tiles);
  std::vector<OperandWindows> reads;
  if (t == 0) return reads;
  switch (op.opcode()) {
    case Opcode::kSlice: {
      const SliceBounds bounds = SliceView(op)[dim];
      reads.push_back({0, dim, {t * bounds.stride, bounds.start, (t - 1) * bounds.stride + 1}});
      break;
    }
    case Opcode::kPad: {
      const EdgePadding padding = PadView(op)[dim];
      const int64_t step = padding.interior + 1;
      reads.push_back({0, dim, {t, -padding.low, RowsSpanning(t, step), step}});
      break;
    }
    case Opcode::kConcatenate: {
      int64_t begin = 0;
      for (int k = 0; k < op.num_operands(); ++k) {
        reads.push_back({k, dim, {t, -begin, t}});
        begin += op.operand(k)->shape().dim(dim);
      }
      break;
    }
    case Opcode::kReverse:
      if (t * tiles != size) reads.push_back({0, dim, {t, t * tiles - size, t}});
      break;
    case Opcode::kConvolution: {
      const ConvolutionView numbers(op);
      for (int i = 0; i < static_cast<int>(numbers.output_spatial().size()); ++i) {
        if (numbers.output_spatial()[i] != dim) continue;
        const int64_t in = numbers.input_spatial()[i];
        reads.push_back({0, in, WindowsOf(WindowView(op)[i], t)});
      }
      break;
    }
    case Opcode::kSelectAndScatter: {
      // The rows of as many windows as the tile has of the source.
      const int64_t stride = WindowView(op)[dim].stride;
      const int64_t rows = CeilOfRatio(op.operand(1)->shape().dim(dim), tiles) * stride;
      reads.push_back({0, dim, {rows, 0, rows}});
      break;
    }
    case Opcode::kReduceWindow:
      if (CumulativeDirection(op, dim) != 0) break;
      for (int k = 0; k < op.num_operands() / 2; ++k) {
        reads.push_back({k, dim, WindowsOf(WindowView(op)[dim], t)});
      }
      break;
    default:
      break;
  }
  return reads;
}

ExchangeCost CostOfExchanges(const Instruction& op, int dim, const Mesh& mesh, const CostModel& model,
                             const AxisList& axes, absl::Span<const double> operand_bytes) {
  ExchangeCost cost;
  const int64_t tiles = mesh.Product(axes);
  for (const OperandWindows& read : ReadsOfTiles(op, dim, tiles)) {
    // Reversed tiles have changed places: what the last one lacks counts as rows.
    const int64_t n = op.opcode() == Opcode::kReverse ? CeilOfRatio(op.shape().dim(dim), tiles) * tiles
                                                      : op.operand(read.operand)->shape().dim(read.dim);
    const int64_t tile = CeilOfRatio(n, tiles);
    if (tile == 0) continue;
    const int64_t row_bytes = static_cast<int64_t>(operand_bytes[read.operand]) / tile;
    const HaloPlan plan = PlanHalo(
        mesh, model, {.n = n, .tile = tile, .from = axes, .to = axes, .windows = read.windows, .row_bytes = row_bytes});
    cost.sent_bytes += plan.sent_rows * row_bytes;
    cost.delay += model.PermuteDelay(plan.permutes);
  }
  // The result goes the way back.
  if (op.opcode() == Opcode::kSelectAndScatter) cost.sent_bytes *= 2;
  if (op.opcode() == Opcode::kReverse) cost.sent_bytes += static_cast<int64_t>(operand_bytes[0]);
  if (CumulativeDirection(op, dim) != 0) {
    const int64_t tile = CeilOfRatio(op.shape().dim(dim), tiles);
    cost.sent_bytes += static_cast<int64_t>(operand_bytes[0]) / std::max<int64_t>(1, tile) * (tiles - 1);
  }
  return cost;
}

}  // namespace toroid
