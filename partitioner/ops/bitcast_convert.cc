// `bitcast-convert`: (i j) -> (i j), (i j) -> (i j w) or (i j w) -> (i j); the extra minor dimension w is
// never cut. The local program is the op itself.
#include <algorithm>

#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {

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

}  // namespace

const OpFamily families::kBitcastConvert = {BitcastConvertShardingRule};

}  // namespace toroid
