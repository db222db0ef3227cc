#include "partitioner/ops/sharding_rule.h"

#include "hlo/base/math.h"

namespace toroid {

void ForEachSplitDim(const ShardingRule& rule, absl::FunctionRef<void(const DimFactors& dim)> visit) {
  const auto visit_all = [&](const auto& tensors) {
    for (const TensorFactors& tensor : tensors) {
      for (const DimFactors& dim : tensor) {
        if (dim.size > 1) visit(dim);
      }
    }
  };
  visit_all(rule.operands);
  visit_all(rule.results);
}

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
  rule.AddMoved(0b1);
  return rule;
}

ShardingRule BatchRule(const Instruction& op, int batch) {
  ShardingRule rule = PointwiseRule(op.operand(0)->shape().dims(), op.num_operands());
  for (size_t f = batch; f < rule.factors.size(); ++f) rule.factors[f].kind = FactorKind::kBlocked;
  rule.results.assign(op.shape().NumLeaves(), rule.operands[0]);
  return rule;
}

ShardingRule OpaqueRule(const Instruction& op) {
  ShardingRule rule;
  for (const Instruction* operand : op.operands()) {
    rule.operands.emplace_back(TensorFactors(operand->shape().rank()));
  }
  std::vector<const Shape*> leaves;
  AppendLeaves(op.shape(), &leaves);
  for (const Shape* leaf : leaves) rule.results.emplace_back(TensorFactors(leaf->rank()));
  return rule;
}

void AppendLeaves(const Shape& shape, std::vector<const Shape*>* leaves) {
  if (!shape.IsTuple()) leaves->push_back(&shape);
  for (const Shape& element : shape.tuple_shapes()) AppendLeaves(element, leaves);
}

AxisSet PartialAxes(const ShardingRule& rule, absl::Span<const AxisList> factor_axes) {
  AxisSet partial = 0;
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    const FactorKind kind = rule.factors[f].kind;
    if ((kind == FactorKind::kReduction && rule.leaves_partial) ||
        (kind == FactorKind::kIndexed && rule.indexed_is_partial)) {
      partial |= factor_axes[f].Set();
    }
  }
  return partial;
}

void ShardingRule::MarkComposites() {
  ForEachSplitDim(*this, [&](const DimFactors& dim) {
    for (int i = 0; i < dim.size; ++i) factors[dim.factor[i]].composite = true;
  });
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

AxisList UnevenAxes(const Mesh& mesh, const ShardingRule& rule, int factor, const AxisList& axes) {
  AxisList prefix;
  for (const int axis : axes) {
    if (mesh.Product(prefix) >= rule.factors[factor].size) break;
    prefix.push_back(axis);
  }
  return prefix;
}

bool IsExpressible(const Mesh& mesh, const ShardingRule& rule, absl::Span<const AxisList> factor_axes) {
  bool all_are = true;
  ForEachSplitDim(rule, [&](const DimFactors& dim) {
    int axes = 0;
    for (int i = 0; i < dim.size; ++i) axes += factor_axes[dim.factor[i]].size();
    all_are &= DimAxes(mesh, rule, dim, factor_axes).size() == axes;
  });
  return all_are;
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

Sharding ShardingUnder(const Mesh& mesh, const ShardingRule& rule, const TensorFactors& tensor,
                       absl::Span<const AxisList> factor_axes) {
  Sharding sharding;
  sharding.dims.reserve(tensor.size());
  for (const DimFactors& dim : tensor) {
    sharding.dims.push_back(dim.size == 0 ? AxisList() : DimAxes(mesh, rule, dim, factor_axes));
  }
  return sharding;
}

double LocalFlops(const Mesh& mesh, const ShardingRule& rule, absl::Span<const AxisList> factor_axes) {
  double flops = rule.flops_per_point;
  for (size_t f = 0; flops > 0 && f < rule.factors.size(); ++f) {
    flops *= static_cast<double>(CeilOfRatio(rule.factors[f].size, mesh.Product(factor_axes[f])));
  }
  return flops;
}

}  // namespace toroid
