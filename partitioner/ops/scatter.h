// `scatter`: n operands, indices, n updates. Dimensions that windows span pass through. Batch dimensions of
// indices and updates are reduction factors if one known reducer (sum, product, maximum, minimum, and, or)
// combines updates with rows. They pass through if they are batching dimensions or if an index component
// counts rows along them (CountAgain in start_indices.h). Inserted dimensions are indexed.
//
// On a cut indexed dimension every device drops the updates of other shards. If updates are cut, the result
// is partial, and each device scatters its own updates. Sums and products are scattered onto neutral
// elements, except that one device of the group also adds the operand. Other reducers scatter onto the
// operand itself, which may enter any number of times.
// Example: maxima of segments, s32[8,1] indices and f32[8] updates over 2 devices, into f32[3]: every device
//          has the maxima over 4 updates, and an all-reduce of 12 bytes by maximum gives those over all.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule ScatterShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionScatter(OpContext& context);

}  // namespace toroid
