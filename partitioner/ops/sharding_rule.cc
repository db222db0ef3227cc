#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule PointwiseRule(absl::Span<const int64_t> dims, int operands) {
  ShardingRule rule;
  TensorFactors factors;
  for (const int64_t size : dims) factors.push_back(rule.AddFactor(size));
  for (int i = 0; i < operands; ++i) rule.operands.push_back(factors);
  rule.results.push_back(factors);
  return rule;
}

ShardingRule MovedRule(absl::Span<const int64_t> dims) {
  ShardingRule rule = PointwiseRule(dims, 1);
  rule.linear.push_back({0b1, /*any_reducer=*/true});
  return rule;
}

void ShardingRule::MarkComposites() {
  const auto mark = [this](const auto& tensors) {
    for (const TensorFactors& tensor : tensors) {
      for (const DimFactors& dim : tensor) {
        for (int i = 0; dim.size > 1 && i < dim.size; ++i) factors[dim.factor[i]].composite = true;
      }
    }
  };
  mark(operands);
  mark(results);
}

AxisList ShardingRule::Admissible(const Mesh& mesh, int factor, const AxisList& axes) const {
  if (!factors[factor].composite) return axes;
  AxisList prefix;
  int64_t product = 1;
  for (const int axis : axes) {
    product *= mesh.size(axis);
    if (factors[factor].size % product != 0) break;
    prefix.push_back(axis);
  }
  return prefix;
}

AxisList FactorAxes(const Mesh& mesh, const ShardingRule& rule, const DimFactors& dim, int index,
                    const AxisList& axes) {
  if (dim.size == 1) return axes;
  int next = 0;
  for (int i = 0; i <= index; ++i) {
    const int64_t size = rule.factors[dim.factor[i]].size;
    AxisList taken;
    int64_t product = 1;
    while (next < axes.size() && size % (product * mesh.size(axes[next])) == 0) {
      product *= mesh.size(axes[next]);
      taken.push_back(axes[next++]);
    }
    if (i == index) return taken;
    if (product != size) return AxisList();
  }
  return AxisList();
}

AxisList DimAxes(const Mesh& mesh, const ShardingRule& rule, const DimFactors& dim,
                 absl::Span<const AxisList> factor_axes) {
  if (dim.size == 1) return factor_axes[dim.factor[0]];
  AxisList axes;
  for (int i = 0; i < dim.size; ++i) {
    const AxisList& own = factor_axes[dim.factor[i]];
    axes.Append(own);
    if (mesh.Product(own) != rule.factors[dim.factor[i]].size) break;
  }
  return axes;
}

}  // namespace toroid
