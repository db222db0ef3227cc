// `broadcast`: (a b) -> (x a y b z). The local program is the op itself.
#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {

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

}  // namespace

const OpFamily families::kBroadcast = {BroadcastShardingRule};

}  // namespace toroid
