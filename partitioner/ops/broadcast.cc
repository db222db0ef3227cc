#include "partitioner/ops/broadcast.h"

namespace toroid {

ShardingRule BroadcastShardingRule(const Instruction& instruction) {
  ShardingRule rule;
  TensorFactors result;
  for (const int64_t size : instruction.shape().dims()) result.push_back(rule.AddFactor(size));
  TensorFactors operand;
  for (const int64_t d : instruction.dimensions()) operand.push_back(result[d]);
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  rule.AddMoved(0b1);
  return rule;
}

}  // namespace toroid
