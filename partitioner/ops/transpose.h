// `transpose`: (a b c) -> (c a b). The local program is the op itself.
#ifndef TOROID_PARTITIONER_OPS_TRANSPOSE_H_
#define TOROID_PARTITIONER_OPS_TRANSPOSE_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule TransposeShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_TRANSPOSE_H_
