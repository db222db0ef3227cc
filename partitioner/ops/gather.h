// `gather`: operand dimensions that windows span <-> offset dimensions of the result; batch dimensions of the indices
// <-> the rest of the result; batching dimensions, and those along which an index counts (start_indices.h), in all
// three; an operand dimension from which single elements are picked is indexed.
//
// On a cut indexed dimension every device gives the elements that it holds, and zeros for the others; the result is
// partial.
#ifndef TOROID_PARTITIONER_OPS_GATHER_H_
#define TOROID_PARTITIONER_OPS_GATHER_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule GatherShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionGather(OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_GATHER_H_
