// `broadcast`: (a b) -> (x a y b z). The local program is the op itself.
#ifndef TOROID_PARTITIONER_OPS_BROADCAST_H_
#define TOROID_PARTITIONER_OPS_BROADCAST_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule BroadcastShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_BROADCAST_H_
