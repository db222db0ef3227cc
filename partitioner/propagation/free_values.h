// Values that every device makes for itself in any sharding, without communication: constants, iotas, broadcasts of what is whole, and
// what ops compute of such values alone element by element, or by summing them up.
//
// Example: the weights of an interpolation, 1 - |i - 2 j| for i = iota, j = iota: a device that needs rows of them computes these rows.
#ifndef TOROID_PARTITIONER_PROPAGATION_FREE_VALUES_H_
#define TOROID_PARTITIONER_PROPAGATION_FREE_VALUES_H_

#include "absl/functional/function_ref.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// Whether the op's result is such a value; `is_free`: whether an operand, by tensor, is one. Of a broadcast: whether each device has
// all of its operand.
bool IsMadeAnywhere(const FlowGraph& graph, const FlowOp& op, absl::FunctionRef<bool(int tensor)> is_free,
                    absl::FunctionRef<bool(int tensor)> is_whole);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_FREE_VALUES_H_
