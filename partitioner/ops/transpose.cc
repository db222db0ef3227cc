// `transpose`: (a b c) -> (c a b). The local program is the op itself.
#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {

ShardingRule TransposeShardingRule(const Instruction& instruction) {
  ShardingRule rule;
  TensorFactors operand;
  for (const int64_t size : instruction.operand(0)->shape().dims()) operand.push_back(rule.AddFactor(size));
  TensorFactors result;
  for (const int64_t d : instruction.dimensions()) result.push_back(operand[d]);
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  rule.AddMoved(0b1);
  return rule;
}

}  // namespace

const OpFamily families::kTranspose = {TransposeShardingRule};

}  // namespace toroid
