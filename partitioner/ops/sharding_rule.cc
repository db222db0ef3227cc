#include "partitioner/ops/sharding_rule.h"

#include "hlo/base/math.h"

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
  rule.AddMoved(0b1);
  return rule;
}

ShardingRule BatchRule(const Instruction& instruction, int batch) {
  const auto dims = instruction.operand(0)->shape().dims();
  ShardingRule rule;
  TensorFactors factors;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    factors.push_back(rule.AddFactor(dims[d], d < batch ? FactorKind::kPassThrough : FactorKind::kBlocked));
  }
  for (int i = 0; i < instruction.num_operands(); ++i) rule.operands.push_back(factors);
  const int64_t leaves = instruction.shape().NumLeaves();
  for (int64_t i = 0; i < leaves; ++i) rule.results.push_back(factors);
  return rule;
}

ShardingRule OpaqueRule(const Instruction& instruction) {
  ShardingRule rule;
  for (const Instruction* operand : instruction.operands()) {
    rule.operands.emplace_back(TensorFactors(operand->shape().rank()));
  }
  std::vector<const Shape*> leaves;
  AppendLeaves(instruction.shape(), &leaves);
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

AxisList UnevenAxes(const Mesh& mesh, const ShardingRule& rule, int factor, const AxisList& axes) {
  AxisList prefix;
  for (const int axis : axes) {
    if (mesh.Product(prefix) >= rule.factors[factor].size) break;
    prefix.push_back(axis);
  }
  return prefix;
}

bool IsExpressible(const Mesh& mesh, const ShardingRule& rule, absl::Span<const AxisList> factor_axes) {
  const auto all_are = [&](const auto& tensors) {
    for (const TensorFactors& tensor : tensors) {
      for (const DimFactors& dim : tensor) {
        bool single_elements = true;
        for (int i = 0; dim.size > 1 && i < dim.size; ++i) {
          const AxisList& own = factor_axes[dim.factor[i]];
          if (!single_elements && !own.empty()) return false;
          single_elements &= mesh.Product(own) == rule.factors[dim.factor[i]].size;
        }
      }
    }
    return true;
  };
  return all_are(rule.operands) && all_are(rule.results);
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
