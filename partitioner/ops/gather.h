// `gather`: operand dimensions that windows span share factors with offset dimensions of the result. Batch
// dimensions of the indices share factors with the other dimensions of the result, and with the operand too
// if they are batching dimensions or if an index component counts rows along them (CountAgain in
// start_indices.h). An operand dimension from which single elements are picked is indexed.
//
// On a cut indexed dimension every device contributes the elements that it holds and zeros for the others;
// the result is partial.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule GatherShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionGather(OpContext& context);

}  // namespace toroid
