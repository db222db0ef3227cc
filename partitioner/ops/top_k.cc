#include "partitioner/ops/top_k.h"

namespace toroid {

ShardingRule TopKShardingRule(const Instruction& instruction) {
  const int rank = instruction.operand(0)->shape().rank();
  ShardingRule rule = BatchRule(instruction, rank - 1);
  for (TensorFactors& result : rule.results) result[rank - 1] = DimFactors();
  return rule;
}

}  // namespace toroid
