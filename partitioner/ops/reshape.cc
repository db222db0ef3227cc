#include "partitioner/ops/reshape.h"

#include <numeric>

namespace toroid {

ShardingRule ReshapeShardingRule(const Instruction& instruction) {
  const auto from = instruction.operand(0)->shape().dims();
  const auto to = instruction.shape().dims();
  ShardingRule rule;
  TensorFactors operand(from.size()), result(to.size());
  rule.AddMoved(0b1);
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
  // A dimension of more factors than a list holds is never cut.
  for (TensorFactors* tensor : {&operand, &result}) {
    for (DimFactors& dim : *tensor) {
      if (dim.size == DimFactors::kMax) dim = DimFactors();
    }
  }
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  return rule;
}

}  // namespace toroid
