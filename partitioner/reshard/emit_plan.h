// Writes a resharding plan as instructions.
#pragma once

#include "partitioner/reshard/plan.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// Writes the instructions of `plan` and returns the resharded local array. `x` is the device's shard, under
// `from`, of an array of dimensions `dims` (global, or local to a manual group).
Instruction* Reshard(SpmdBuilder& b, Instruction* x, absl::Span<const int64_t> dims, const Sharding& from,
                     const ReshardPlan& plan);

}  // namespace toroid
