// Random bits from a counter: rng-bit-generator(state).
//
// Any dimension of the bits may be cut, without communication: element i of the whole follows from the state and i alone, so each
// device writes its part of that stream in elementwise ops. Uncut, the op stands as it is. The state is whole.
// Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC11), for Threefry and Philox; how their words fill arrays:
// XLA, RngBitGenerator.
#ifndef TOROID_PARTITIONER_OPS_RNG_BIT_GENERATOR_H_
#define TOROID_PARTITIONER_OPS_RNG_BIT_GENERATOR_H_

#include <vector>

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule RngBitGeneratorShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionRngBitGenerator(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_RNG_BIT_GENERATOR_H_
