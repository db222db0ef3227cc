// `reduce`: (k r), () -> (k), r reduced; n operands, n init values, n results.
//
// HLO applies a reducer in any order, and init values as often as it likes; the partitioned program lets each
// of them enter once, so that it computes what the unpartitioned one does also where they are not neutral.
// Padding rows never enter.
//
// - Arrays reduced apart by add, maximum and the like: the local reduce starts from the neutral element,
//   parts combine by all-reduce, and the init value joins at the end.
// - Choices (argmax): a value may enter any number of times, so every part starts from the init value.
// - Anything else: a flag travels with each element and says that it counts, and the reducer passes over
//   those that do not. Parts start from nothing, which no init value could say.
// In the last two, all parts are gathered along a new dimension and reduced locally.
#ifndef TOROID_PARTITIONER_OPS_REDUCE_H_
#define TOROID_PARTITIONER_OPS_REDUCE_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule ReduceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionReduce(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_REDUCE_H_
