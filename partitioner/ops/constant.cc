#include "partitioner/ops/constant.h"

namespace toroid {

ShardingRule ConstantShardingRule(const Instruction& instruction) {
  return instruction.shape().IsArray() ? PointwiseRule(instruction.shape().dims(), 0)
                                       : OpaqueRule(instruction);
}

}  // namespace toroid
