// Collectives that the program's author wrote: pointwise, except that the dimensions that they gather,
// scatter or exchange are never cut. The local program is the op itself.
#pragma once

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule AllReduceShardingRule(const Instruction& instruction);
ShardingRule AllGatherShardingRule(const Instruction& instruction);
ShardingRule ReduceScatterShardingRule(const Instruction& instruction);
ShardingRule AllToAllShardingRule(const Instruction& instruction);
ShardingRule CollectivePermuteShardingRule(const Instruction& instruction);
ShardingRule CollectiveBroadcastShardingRule(const Instruction& instruction);

}  // namespace toroid
