// `topk`, and the custom calls of that name: the last dimension shrinks to k and is private on each side. The local
// program is the op itself.
#ifndef TOROID_PARTITIONER_OPS_TOP_K_H_
#define TOROID_PARTITIONER_OPS_TOP_K_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule TopKShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_TOP_K_H_
