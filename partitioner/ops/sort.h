// `sort`: never cut along the sorted dimension where it runs, though sharding flows along it. The local program is the
// op itself.
#ifndef TOROID_PARTITIONER_OPS_SORT_H_
#define TOROID_PARTITIONER_OPS_SORT_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule SortShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_SORT_H_
