// `scatter`: n operands, indices, n updates. Dimensions that windows span pass through; batch dimensions of indices and
// updates are reduced if one known reducer (sum, product, maximum, minimum, and, or) combines them with rows, and pass
// through if an index counts along them (start_indices.h); inserted dimensions are indexed.
//
// On a cut indexed dimension every device drops the updates of other shards. Where updates are cut, the result is partial:
// each device scatters its own updates, sums and products onto neutral elements, and the operand enters once; others
// onto the operand itself, which may enter any number of times.
// Example: maxima of segments, s32[8,1] indices and f32[8] updates over 2 devices, into f32[3]: every device has the
// maxima over 4 updates, and an all-reduce of 12 bytes by maximum gives those over all.
#ifndef TOROID_PARTITIONER_OPS_SCATTER_H_
#define TOROID_PARTITIONER_OPS_SCATTER_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule ScatterShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionScatter(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_SCATTER_H_
