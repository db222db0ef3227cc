// `constant`: may be cut in any dimension, each device holds its shard; a tuple of constants is never cut.
#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {

ShardingRule ConstantShardingRule(const Instruction& instruction) {
  return instruction.shape().IsArray() ? PointwiseRule(instruction.shape().dims(), 0)
                                       : OpaqueRule(instruction);
}

}  // namespace

const OpFamily families::kConstant = {ConstantShardingRule};

}  // namespace toroid
