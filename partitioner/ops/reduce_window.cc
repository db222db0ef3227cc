// `reduce-window`: in a dimension with a nontrivial window, a halo exchange fetches the rows that a tile's
// windows read (tile_windows.h).
//
// Windows that reach from every row to the begin (or the end) of the dimension (a cumulative sum, maximum,
// ...) need no halo: every tile computes its own cumulative values, the totals of all tiles are gathered, one
// row per tile, and the totals of the preceding (following) tiles are combined with every row.
// Example: cumulative sums of x[0..8) over 2: tile 1 adds x[0] + ... + x[3] to its own sums.
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

// 1 if the window along `dim` reaches from every row to the begin of the dimension, -1 if to its end,
// provided that the reducer is known and the init value is neutral, so that results of tiles can be combined.
// 0 otherwise.
int CumulativeDirection(const Instruction& op, int dim) {
  if (op.num_operands() != 2) return 0;
  const WindowDim window = WindowView(op)[dim];
  const int64_t n = op.operand(0)->shape().dim(dim);
  if (n < 2 || window.size != n || window.stride > 1 || window.window_dilation > 1 ||
      window.base_dilation > 1) {
    return 0;
  }
  const bool forward = window.padding_low == n - 1 && window.padding_high == 0;
  const bool backward = window.padding_low == 0 && window.padding_high == n - 1;
  if ((!forward && !backward) || !StartsNeutral(op)) return 0;
  return forward ? 1 : -1;
}

// `x`, which holds the cumulative values of each tile along `dim` alone, combined with the totals of all
// preceding (if not `forward`: following) tiles.
Instruction* AddTotals(SpmdBuilder& b, Instruction* x, int dim, const AxisList& axes, bool forward,
                       Reducer reducer) {
  const PrimitiveType type = x->shape().element_type();
  Instruction* neutral = b.Constant(NeutralElement(reducer, type));
  const int64_t last = forward ? x->shape().dim(dim) - 1 : 0;
  Instruction* totals = b.AllGather(b.SliceAlong(x, dim, last, last + 1), axes, dim);
  Instruction* self = b.Coordinate(axes);
  Instruction* others = forward
                            ? b.InRange(totals->shape().dims(), dim, nullptr, self)
                            : b.InRange(totals->shape().dims(), dim, b.Add(self, b.IntScalar(1)), nullptr);
  totals = b.Select(others, totals, b.Broadcast(neutral, totals->shape().dims()));
  Instruction* sum = b.Reduce({totals}, {neutral}, {dim}, b.ReducerComputation(ReducerOpcode(reducer), type));
  return b.Binary(ReducerOpcode(reducer), b.BroadcastOver(sum, x->shape().dims(), {dim}), x);
}

ShardingRule ReduceWindowShardingRule(const Instruction& op) {
  const int n = op.num_operands() / 2;
  const Shape& result = op.shape().IsTuple() ? op.shape().tuple_shape(0) : op.shape();
  ShardingRule rule = PointwiseRule(result.dims(), n);
  for (int d = 0; d < result.rank(); ++d) {
    if (!WindowView(op)[d].IsTrivial()) rule.factors[d].kind = FactorKind::kPermuting;
  }
  rule.results.assign(n, rule.operands[0]);
  rule.operands.resize(2 * n);  // The init values, scalars.
  return rule;
}

std::vector<OperandWindows> ReadsOfReduceWindow(const Instruction& op, int dim, int64_t tiles) {
  const int64_t t = TileRows(op, dim, tiles);
  std::vector<OperandWindows> reads;
  if (t == 0 || CumulativeDirection(op, dim) != 0) return reads;
  const WindowDim window = WindowView(op)[dim];
  const int64_t rows = RowsRead(window, TileRows(op, dim, 1), op.operand(0)->shape().dim(dim));
  for (int k = 0; k < op.num_operands() / 2; ++k) {
    reads.push_back({k, dim, WindowsOf(window, t), rows, op.operand(k)->shape().dim(dim)});
  }
  return reads;
}

std::vector<Instruction*> PartitionReduceWindow(OpContext& context) {
  SpmdBuilder& b = *context.b;
  xla::HloInstructionProto* attrs = nullptr;
  const int n = context.op->num_operands() / 2;
  const Shape local = context.ResultShape();
  std::vector<int> cumulated;
  for (int d = 0; d < local.rank(); ++d) {
    const AxisList& axes = context.results[0].dims[d];
    if (axes.empty() || context.rule->factors[d].kind != FactorKind::kPermuting) continue;
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
    for (const OperandWindows& read : ReadsOfReduceWindow(*context.op, d, b.mesh().Product(axes))) {
      context.operands[read.operand] = FetchBase(b, context.operands[read.operand], axes, local.dim(d), read,
                                                 window, context.operands[n + read.operand]);
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

}  // namespace

const OpFamily families::kReduceWindow = {ReduceWindowShardingRule, PartitionReduceWindow,
                                          ReadsOfReduceWindow};

}  // namespace toroid
