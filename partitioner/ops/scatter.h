// `scatter`: n operands, indices, n updates. Dimensions that windows span pass through; batch dimensions of indices and
// updates are reduced if the update computation is a plain sum; inserted dimensions are indexed.
//
// On a cut indexed dimension every device drops the updates of other shards. Where updates are cut, each device
// scatters its own onto zeros, and the operand enters once.
#ifndef TOROID_PARTITIONER_OPS_SCATTER_H_
#define TOROID_PARTITIONER_OPS_SCATTER_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule ScatterShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionScatter(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_SCATTER_H_
