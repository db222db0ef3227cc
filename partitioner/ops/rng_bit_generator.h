// Random bits from a counter: rng-bit-generator(state).
//
// Any dimension of the bits may be cut, without communication: element i of the global array depends on the
// state and i only, so each device computes its shard in elementwise ops. If no dimension is cut, the local
// program is the op itself. The state is replicated.
// Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC11), for Threefry and Philox; XLA's
//          RngBitGenerator, for how their words fill arrays.
#pragma once

#include <vector>

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule RngBitGeneratorShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionRngBitGenerator(OpContext& context);

}  // namespace toroid
