// `reshape`: dimensions of operand and result are split into common factors, from the major side on. The
// local program is the op itself.
//
// Example: f32[6,4] -> f32[24] is (i j) -> ((i j)). If sizes have no common factor, e.g. [3,2] -> [2,3], the
//          dimensions up to the next common boundary are never cut.
//
// The leading factor of a dimension may be cut unevenly: of its f parts, each of g devices takes ceil(f / g)
// whole ones, and a halo exchange moves elements between these and the tiles of the merged dimension.
// Example: f32[6,4] -> f32[24] over 4: tiles of 2 rows have 8 elements and become tiles of 6. Tile 1 gets 2
//          elements from tile 0, tile 2 gets 4 from tile 1, and tile 3 gets all 6 from tile 2.
#include <numeric>
#include <optional>

#include "hlo/base/math.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

// A dimension whose leading factor may be cut unevenly: `parts` parts of `inner` elements each.
struct Lead {
  int factor;
  int64_t parts, inner;
  // Elements per tile if tiles hold whole parts.
  int64_t Whole(int64_t tiles) const { return CeilOfRatio(parts, tiles) * inner; }
};

std::optional<Lead> LeadOf(const ShardingRule& rule, const DimFactors& dim, int64_t size) {
  if (dim.size == 0 || !rule.factors[dim.factor[0]].by_halo) return std::nullopt;
  const int64_t parts = rule.factors[dim.factor[0]].size;
  return Lead{dim.factor[0], parts, size / parts};
}

// Sets by_halo of the composite factors that lead all their dimensions.
void MarkLeads(ShardingRule* rule) {
  for (Factor& factor : rule->factors) factor.by_halo = factor.kind == FactorKind::kPassThrough;
  std::vector<bool> is_part(rule->factors.size(), false);
  for (const TensorFactors* tensor : {&rule->operands[0], &rule->results[0]}) {
    for (const DimFactors& dim : *tensor) {
      for (int i = 0; i < dim.size; ++i) {
        if (dim.size > 1) is_part[dim.factor[i]] = true;
        if (i > 0) rule->factors[dim.factor[i]].by_halo = false;
      }
    }
  }
  for (size_t f = 0; f < rule->factors.size(); ++f) rule->factors[f].by_halo &= is_part[f];
}

ShardingRule ReshapeShardingRule(const Instruction& op) {
  const auto from = op.operand(0)->shape().dims();
  const auto to = op.shape().dims();
  ShardingRule rule;
  TensorFactors operand(from.size()), result(to.size());
  rule.AddMoved(0b1);
  const int64_t elements = op.shape().NumElements();
  size_t i = 0, j = 0;
  int64_t a = 1, b = 1;  // The quotients of from[i - 1] and to[j - 1] by the factors found so far.
  const auto push = [&rule](DimFactors& dim, int factor) {
    if (dim.size < DimFactors::kMax) {
      dim.push_back(factor);
    } else {
      rule.factors[factor].kind = FactorKind::kBlocked;
    }
  };
  while (elements > 0 && (i < from.size() || j < to.size() || a > 1 || b > 1)) {
    if (a == 1 && i < from.size()) {
      a = from[i++];
      continue;
    }
    if (b == 1 && j < to.size()) {
      b = to[j++];
      continue;
    }
    const int64_t common = std::gcd(a, b);
    if (common > 1 && rule.factors.size() < 250) {
      const int factor = rule.AddFactor(common);
      push(operand[i - 1], factor);
      push(result[j - 1], factor);
      a /= common;
      b /= common;
      continue;
    }
    // No common factor: skip to the next boundary that both sides share.
    int64_t left = a, right = b;
    if (operand[i - 1].size > 0 || a > 1) push(operand[i - 1], rule.AddFactor(a, FactorKind::kBlocked));
    if (result[j - 1].size > 0 || b > 1) push(result[j - 1], rule.AddFactor(b, FactorKind::kBlocked));
    while (left != right) {
      if (left < right && i < from.size()) {
        left *= from[i];
        push(operand[i], rule.AddFactor(from[i], FactorKind::kBlocked));
        ++i;
      } else if (j < to.size()) {
        right *= to[j];
        push(result[j], rule.AddFactor(to[j], FactorKind::kBlocked));
        ++j;
      } else {
        break;
      }
    }
    a = b = 1;
  }
  // A dimension of more factors than DimFactors holds is never cut, nor are dimensions that share a factor
  // with it.
  for (TensorFactors* tensor : {&operand, &result}) {
    for (DimFactors& dim : *tensor) {
      if (dim.size < DimFactors::kMax) continue;
      for (int k = 0; k < dim.size; ++k) rule.factors[dim.factor[k]].kind = FactorKind::kBlocked;
      dim = DimFactors();
    }
  }
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  MarkLeads(&rule);
  return rule;
}

std::vector<Instruction*> PartitionReshape(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const ShardingRule& rule = *context.rule;
  Instruction* x = context.operands[0];
  for (int d = 0; d < x->shape().rank(); ++d) {
    const int64_t n = context.GlobalDim(0, d);
    const std::optional<Lead> lead = LeadOf(rule, rule.operands[0][d], n);
    const AxisList& axes = context.AxesOf(0, d);
    if (!lead.has_value() || axes.empty() || axes != context.factor_axes[lead->factor]) continue;
    const int64_t whole = lead->Whole(b.mesh().Product(axes));
    if (whole != x->shape().dim(d)) x = FetchWindow(b, x, d, n, axes, axes, {whole, 0, whole});
  }
  const Shape local = context.ResultShape();
  Dims dims(local.dims().begin(), local.dims().end());
  std::vector<int> moved;
  for (int d = 0; d < local.rank(); ++d) {
    const std::optional<Lead> lead = LeadOf(rule, rule.results[0][d], context.op->shape().dim(d));
    const AxisList& axes = context.results[0].dims[d];
    if (!lead.has_value() || axes.empty() || axes != context.factor_axes[lead->factor]) continue;
    const int64_t whole = lead->Whole(b.mesh().Product(axes));
    if (whole == dims[d]) continue;
    dims[d] = whole;
    moved.push_back(d);
  }
  if (moved.empty() && x == context.operands[0]) return context.CloneLocal();
  x = b.Reshape(x, dims);
  for (const int d : moved) {
    const AxisList& axes = context.results[0].dims[d];
    const int64_t tile = local.dim(d);
    x = FetchWindow(b, x, d, context.op->shape().dim(d), axes, axes, {tile, 0, tile});
  }
  return {x};
}

std::vector<OperandWindows> ReadsOfReshape(const Instruction& op, int factor, int64_t tiles) {
  const ShardingRule rule = ReshapeShardingRule(op);
  if (!rule.factors[factor].by_halo || rule.factors[factor].size % tiles == 0) return {};
  std::vector<OperandWindows> reads;
  const auto add = [&](const Shape& shape, const TensorFactors& tensor, bool is_result) {
    for (int d = 0; d < shape.rank(); ++d) {
      const std::optional<Lead> lead = LeadOf(rule, tensor[d], shape.dim(d));
      if (!lead.has_value() || lead->factor != factor) continue;
      const int64_t tile = CeilOfRatio(shape.dim(d), tiles), whole = lead->Whole(tiles);
      if (tile == whole) continue;
      // The operand moves from its tiles to whole parts, the result from whole parts to its tiles.
      const int64_t to = is_result ? tile : whole;
      reads.push_back({0, d, {to, 0, to}, is_result ? whole * tiles : shape.dim(d)});
    }
  };
  add(op.operand(0)->shape(), rule.operands[0], /*is_result=*/false);
  add(op.shape(), rule.results[0], /*is_result=*/true);
  return reads;
}

}  // namespace

const OpFamily families::kReshape = {ReshapeShardingRule, PartitionReshape, ReadsOfReshape};

}  // namespace toroid
