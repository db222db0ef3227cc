// `bitcast-convert`: (i j) -> (i j), or (i j) -> (i j w); the extra minor dimension of the wider side is private. The
// local program is the op itself.
#ifndef TOROID_PARTITIONER_OPS_BITCAST_CONVERT_H_
#define TOROID_PARTITIONER_OPS_BITCAST_CONVERT_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule BitcastConvertShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_BITCAST_CONVERT_H_
