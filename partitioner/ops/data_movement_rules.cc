// Rules of ops that move data without computing on it. All are linear in the moved operand.
#include <algorithm>
#include <numeric>

#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/rules.h"

namespace toroid {
namespace {

void AddMoved(uint32_t operands, ShardingRule* rule) {
  rule->linear.push_back({operands, /*any_reducer=*/true});
}

}  // namespace

// (a b) -> (x a y b z)
ShardingRule BroadcastShardingRule(const Instruction& instruction) {
  ShardingRule rule;
  TensorFactors result;
  for (const int64_t size : instruction.shape().dims()) result.push_back(rule.AddFactor(size));
  TensorFactors operand;
  for (const int64_t d : instruction.dimensions()) operand.push_back(result[d]);
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  AddMoved(0b1, &rule);
  return rule;
}

// Common factors from the major side: f32[6,4] -> f32[24] is (i j) -> ((i j)). Where sizes have no common
// factor, e.g. [3,2] -> [2,3], the dimensions up to the next common boundary are private to each side.
ShardingRule ReshapeShardingRule(const Instruction& instruction) {
  const auto from = instruction.operand(0)->shape().dims();
  const auto to = instruction.shape().dims();
  ShardingRule rule;
  TensorFactors operand(from.size()), result(to.size());
  AddMoved(0b1, &rule);
  const int64_t elements = instruction.shape().NumElements();
  size_t i = 0, j = 0;
  int64_t a = 1, b = 1;  // What is left of from[i - 1] and to[j - 1].
  const auto push = [](DimFactors& dim, int factor) {
    if (dim.size < DimFactors::kMax) dim.push_back(factor);
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
    if (a == 1 && b == 1) break;
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
  // A dimension of more factors than a list holds is left whole.
  for (TensorFactors* tensor : {&operand, &result}) {
    for (DimFactors& dim : *tensor) {
      if (dim.size == DimFactors::kMax) dim = DimFactors();
    }
  }
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  return rule;
}

ShardingRule TransposeShardingRule(const Instruction& instruction) {
  ShardingRule rule;
  TensorFactors operand;
  for (const int64_t size : instruction.operand(0)->shape().dims()) operand.push_back(rule.AddFactor(size));
  TensorFactors result;
  for (const int64_t d : instruction.dimensions()) result.push_back(operand[d]);
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  AddMoved(0b1, &rule);
  return rule;
}

ShardingRule ReverseShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), 1);
  for (const int64_t d : instruction.dimensions()) {
    if (rule.factors[d].size > 1) rule.factors[d].kind = FactorKind::kPermuting;
  }
  AddMoved(0b1, &rule);
  return rule;
}

ShardingRule ConcatenateShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), instruction.num_operands());
  if (instruction.num_operands() > 1) rule.factors[instruction.dimension()].kind = FactorKind::kPermuting;
  if (instruction.num_operands() < 32) AddMoved((uint32_t{1} << instruction.num_operands()) - 1, &rule);
  return rule;
}

ShardingRule SliceShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), 1);
  for (int d = 0; d < instruction.shape().rank(); ++d) {
    const SliceBounds slice = SliceView(instruction)[d];
    const int64_t size = instruction.operand(0)->shape().dim(d);
    if (slice.start != 0 || slice.limit != size || slice.stride != 1) {
      rule.factors[d].kind = FactorKind::kPermuting;
    }
  }
  AddMoved(0b1, &rule);
  return rule;
}

ShardingRule PadShardingRule(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), 1);
  rule.operands.emplace_back();  // The padding value, a scalar.
  for (int d = 0; d < instruction.shape().rank(); ++d) {
    const EdgePadding padding = PadView(instruction)[d];
    if (padding.low != 0 || padding.high != 0 ||
        (padding.interior != 0 && instruction.operand(0)->shape().dim(d) > 1)) {
      rule.factors[d].kind = FactorKind::kPermuting;
    }
  }
  return rule;
}

ShardingRule IotaShardingRule(const Instruction& instruction) {
  return PointwiseRule(instruction.shape().dims(), 0);
}

ShardingRule ConstantShardingRule(const Instruction& instruction) {
  return instruction.shape().IsArray() ? PointwiseRule(instruction.shape().dims(), 0)
                                       : OpaqueRule(instruction);
}

// The extra minor dimension of the wider side is private.
ShardingRule BitcastConvertShardingRule(const Instruction& instruction) {
  ShardingRule rule;
  const auto from = instruction.operand(0)->shape().dims();
  const auto to = instruction.shape().dims();
  TensorFactors shared;
  const size_t common = std::min(from.size(), to.size());
  for (size_t d = 0; d < common; ++d) shared.push_back(rule.AddFactor(to[d]));
  TensorFactors operand = shared, result = shared;
  operand.resize(from.size());
  result.resize(to.size());
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  return rule;
}

}  // namespace toroid
