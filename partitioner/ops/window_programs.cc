// Local programs of windowed ops over cut spatial dimensions: convolution, reduce-window, select-and-scatter.
//
// Output tile i owns w windows from i w. On the base spread by its dilation it reads positions
// [i w stride - low, i w stride - low + (w - 1) stride + (k - 1) dilation + 1). A halo exchange fetches the
// rows behind them, what lies outside the base is replaced by the padding value, holes of the base dilation
// are filled in, and the op runs without padding.
//
// A window that reaches to the begin of the dimension from every row (a cumulative sum, maximum, ...) is not
// fetched: every tile runs over its own rows, the totals of all tiles are gathered, and those of the tiles
// before are combined with every row. One row per tile travels. x[0..8) over 2, sums: tile 1 adds x[0] + ...
// + x[3] to its own.
// Source: GShard, arXiv:2006.16668, A.4.
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"
#include "partitioner/reshard/halo_exchange.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

// The positions that the w local windows read.
Instruction* FetchBase(SpmdBuilder& b, Instruction* x, const CutDimension& cut, int64_t w,
                       const TileWindows& windows, const WindowDim& window, Instruction* fill) {
  return FetchSpreadWindow(b, x, cut, windows, (w - 1) * window.stride + window.Extent(), fill);
}

// The window as it runs over what FetchBase gives.
WindowDim OnFetchedBase(WindowDim window) {
  window.base_dilation = 1;
  window.padding_low = window.padding_high = 0;
  return window;
}

// `x`, whose every tile along `dim` is cumulated by itself, combined with the totals of the tiles before
// (behind).
Instruction* AddTotals(SpmdBuilder& b, Instruction* x, int dim, const AxisList& axes, bool forward,
                       Reducer reducer) {
  const PrimitiveType type = x->shape().element_type();
  Instruction* neutral = b.Constant(NeutralElement(reducer, type));
  const int64_t last = forward ? x->shape().dim(dim) - 1 : 0;
  Instruction* totals = b.AllGather(b.SliceAlong(x, dim, last, last + 1), axes, dim);
  Instruction* self = b.Coordinate(axes);
  Instruction* others =
      forward ? b.InRange(totals->shape().dims(), dim, nullptr, self)
              : b.InRange(totals->shape().dims(), dim, b.Binary(Opcode::kAdd, self, b.IntScalar(1)), nullptr);
  totals = b.Select(others, totals, b.Broadcast(neutral, totals->shape().dims()));
  Instruction* sum =
      b.Reduce({totals}, {neutral}, {dim}, b.ReducerComputation(ReducerOpcode(reducer), type));
  return b.Binary(ReducerOpcode(reducer), b.BroadcastOver(sum, x->shape().dims(), {dim}), x);
}

}  // namespace

absl::StatusOr<std::vector<Instruction*>> PartitionConvolution(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const ConvolutionView numbers(*context.op);
  xla::HloInstructionProto* attrs = nullptr;
  // A cut feature contraction: padding is zeroed on both sides.
  const int64_t in_dims[2] = {numbers.input_feature(), numbers.kernel_input_feature()};
  for (int side = 0; side < 2; ++side) {
    Instruction*& operand = context.operands[side];
    const int d = in_dims[side];
    operand = b.MaskPadding(operand, d, context.GlobalDim(side, d), context.AxesOf(side, d),
                            b.Zero(operand->shape().element_type()));
  }
  const Shape local = context.ResultShape();
  for (int i = 0; i < static_cast<int>(numbers.input_spatial().size()); ++i) {
    const int64_t out = numbers.output_spatial()[i];
    const AxisList& axes = context.results[0].dims[out];
    if (axes.empty()) continue;
    if (attrs == nullptr) attrs = b.module()->New(context.op->attrs());
    const OperandWindows read = ReadsOfTiles(*context.op, out, b.mesh().Product(axes))[0];
    const WindowDim window = WindowView(*context.op)[i];
    Instruction*& x = context.operands[0];
    x = FetchBase(b, x, {read.dim, context.GlobalDim(0, read.dim), axes}, local.dim(out), read.windows, window,
                  b.Zero(x->shape().element_type()));
    WindowView::Set(attrs, i, OnFetchedBase(window));
  }
  return context.CloneLocal(attrs);
}

absl::StatusOr<std::vector<Instruction*>> PartitionReduceWindow(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = nullptr;
  const int n = context.op->num_operands() / 2;
  const Shape local = context.ResultShape();
  std::vector<int> cumulated;
  for (int d = 0; d < local.rank(); ++d) {
    const AxisList& axes = context.results[0].dims[d];
    const FactorKind kind = context.rule->factors[context.rule->results[0][d].factor[0]].kind;
    if (axes.empty() || kind != FactorKind::kPermuting) continue;
    if (attrs == nullptr) attrs = b.module()->New(context.op->attrs());
    WindowDim window = WindowView(*context.op)[d];
    if (const int direction = CumulativeDirection(*context.op, d); direction != 0) {
      context.operands[0] =
          b.MaskPadding(context.operands[0], d, context.GlobalDim(0, d), axes, context.operands[1]);
      window.size = local.dim(d);
      window.padding_low = direction > 0 ? local.dim(d) - 1 : 0;
      window.padding_high = direction > 0 ? 0 : local.dim(d) - 1;
      WindowView::Set(attrs, d, window);
      cumulated.push_back(d);
      continue;
    }
    for (const OperandWindows& read : ReadsOfTiles(*context.op, d, b.mesh().Product(axes))) {
      context.operands[read.operand] =
          FetchBase(b, context.operands[read.operand], {read.dim, context.GlobalDim(read.operand, d), axes},
                    local.dim(d), read.windows, window, context.operands[n + read.operand]);
    }
    WindowView::Set(attrs, d, OnFetchedBase(window));
  }
  std::vector<Instruction*> results = context.CloneLocal(attrs);
  for (const int d : cumulated) {
    results[0] = AddTotals(b, results[0], d, context.results[0].dims[d],
                           CumulativeDirection(*context.op, d) > 0, *ClassifyReducer(*context.op->called(0)));
  }
  return results;
}

// Windows lie apart, each within its stride: a tile takes the rows under its part of the source, and what it
// scatters goes back to the tiles of the result. Rows behind the last window get the init value.
absl::StatusOr<std::vector<Instruction*>> PartitionSelectAndScatter(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const Shape local = context.ResultShape();
  std::vector<int> cut;
  for (int d = 0; d < local.rank(); ++d) {
    const AxisList& axes = context.results[0].dims[d];
    if (axes.empty() ||
        context.rule->factors[context.rule->results[0][d].factor[0]].kind != FactorKind::kPermuting) {
      continue;
    }
    const OperandWindows read = ReadsOfTiles(*context.op, d, b.mesh().Product(axes))[0];
    context.operands[0] =
        FetchWindow(b, context.operands[0], d, context.GlobalDim(0, d), axes, axes, read.windows);
    cut.push_back(d);
  }
  if (cut.empty()) return context.CloneLocal();
  Instruction* result = b.Clone(*context.op, context.operands[0]->shape(), context.operands);
  Computation* called[] = {context.copy_computation(context.op->called(0)),
                           context.copy_computation(context.op->called(1))};
  result->set_called(called);
  Instruction* init = context.operands[2];
  for (const int d : cut) {
    const AxisList& axes = context.results[0].dims[d];
    const int64_t tiles = b.mesh().Product(axes), rows = result->shape().dim(d);
    const int64_t windows = context.GlobalDim(1, d) * WindowView(*context.op)[d].stride;
    if (rows * tiles != windows) {
      Instruction* end = b.AffineOffset(axes, -rows, windows, SpmdBuilder::IndexType(rows * tiles));
      const auto dims = result->shape().dims();
      result = b.Select(b.InRange(dims, d, nullptr, end), result, b.Broadcast(init, dims));
    }
    const int64_t t = local.dim(d);
    result = FetchMaskedWindow(b, result, d, rows * tiles, axes, {t, 0, t}, init);
  }
  return std::vector<Instruction*>{result};
}

}  // namespace toroid
