#include "partitioner/ops/select_and_scatter.h"

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {

ShardingRule SelectAndScatterShardingRule(const Instruction& instruction) {
  ShardingRule rule;
  TensorFactors factors;
  const Shape& shape = instruction.shape();
  for (int d = 0; d < shape.rank(); ++d) {
    const WindowDim window = WindowView(instruction)[d];
    const bool apart = window.size <= window.stride && window.padding_low == 0 && window.padding_high == 0 &&
                       window.base_dilation == 1 && window.window_dilation == 1;
    const FactorKind kind = window.IsTrivial() ? FactorKind::kPassThrough
                            : apart            ? FactorKind::kPermuting
                                               : FactorKind::kNeedsReplication;
    factors.push_back(rule.AddFactor(shape.dim(d), kind));
  }
  rule.operands = {factors, factors, TensorFactors()};
  rule.results.push_back(factors);
  return rule;
}

std::vector<OperandWindows> ReadsOfSelectAndScatter(const Instruction& op, int dim, int64_t tiles) {
  const int64_t stride = WindowView(op)[dim].stride;
  const int64_t rows = CeilOfRatio(op.operand(1)->shape().dim(dim), tiles) * stride;
  return {{0, dim, {rows, 0, rows}, op.operand(0)->shape().dim(dim)}};
}

int64_t BytesSentBySelectAndScatter(const Instruction&, int, int64_t, absl::Span<const double>, int64_t halo) {
  return 2 * halo;
}

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
    const OperandWindows read = ReadsOfSelectAndScatter(*context.op, d, b.mesh().Product(axes))[0];
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
