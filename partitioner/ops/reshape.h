// `reshape`: common factors of both sides, from the major side. The local program is the op itself.
//
// Example: f32[6,4] -> f32[24] is (i j) -> ((i j)). Where sizes have no common factor, e.g. [3,2] -> [2,3], the
// dimensions up to the next common boundary are private to each side.
#ifndef TOROID_PARTITIONER_OPS_RESHAPE_H_
#define TOROID_PARTITIONER_OPS_RESHAPE_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule ReshapeShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_RESHAPE_H_
