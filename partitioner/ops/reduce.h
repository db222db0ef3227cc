// `reduce`: (k r), () -> (k), r reduced; n operands, n init values, n results.
//
// HLO may apply a reducer in any order and use init values any number of times. The partitioned program uses
// an init value once, unless the reducer is idempotent, so that it computes the same as the unpartitioned
// program even if the init value is not neutral. Padding rows are never reduced.
//
// - Independent arrays, each with a known reducer (add, maximum, ...): the local reduce starts from the
//   neutral element, an all-reduce combines the parts, and the init value is combined last. If the init value
//   is known to be neutral, the local result stays partial instead.
// - Idempotent reducers of several arrays (argmax): every part starts from the init value, as a value may
//   enter any number of times.
// - Other reducers: each element has a flag that tells whether it counts, and the reducer skips elements that
//   do not. Parts start from an element that does not count.
//
// In the last two cases all parts are gathered along a new dimension and reduced locally.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule ReduceShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionReduce(OpContext& context);

}  // namespace toroid
