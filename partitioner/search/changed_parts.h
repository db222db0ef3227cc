// Splits the changes that a search found into parts that can be tried one by one.
#ifndef TOROID_PARTITIONER_SEARCH_CHANGED_PARTS_H_
#define TOROID_PARTITIONER_SEARCH_CHANGED_PARTS_H_

#include <vector>

#include "partitioner/plan/op_decision.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// Returns the decisions of `found` that differ from those of `now`. Changed ops that share an operand or
// result tensor are in one part. Parts are in the order of their first ops.
// Example: `found` computes one product by rows instead of columns, and in another place reduces a partial
// sum before two ops instead of after each. These are two parts.
std::vector<DecidedOps> ChangedParts(const FlowGraph& graph, const DecidedOps& now, const DecidedOps& found);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_CHANGED_PARTS_H_
