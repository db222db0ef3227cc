// Free values: each device can compute its shard of them in any sharding, without communication. Constants,
// iotas and broadcasts of replicated arrays are free, and so are elementwise ops, reshapes, transposes and
// reduces of free values.
//
// Example: interpolation weights 1 - |i - 2 j| with i and j iotas. A device that needs some rows computes
// these rows.
#pragma once

#include "absl/functional/function_ref.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// Whether the result of `op` is free. `is_free(tensor)`: whether an operand is free. `is_whole(tensor)`:
// whether each device has all of an operand; asked for the operand of a broadcast and for scalar operands.
bool IsMadeAnywhere(const FlowGraph& graph, const FlowOp& op, absl::FunctionRef<bool(int tensor)> is_free,
                    absl::FunctionRef<bool(int tensor)> is_whole);

}  // namespace toroid
