// The changes that a search found, in parts that can be taken one by one.
#ifndef TOROID_PARTITIONER_SEARCH_CHANGED_PARTS_H_
#define TOROID_PARTITIONER_SEARCH_CHANGED_PARTS_H_

#include <vector>

#include "partitioner/propagation/flow_graph.h"
#include "partitioner/rewrite/op_decision.h"

namespace toroid {

// The decisions of `found` that `now` does not have. Ops that read or make a tensor together are in one part; parts are in
// the order of their first ops.
// Example: one product is computed by rows instead of columns, and, elsewhere, a sum is reduced before two ops instead of
// behind each: two parts.
std::vector<DecidedOps> ChangedParts(const FlowGraph& graph, const DecidedOps& now, const DecidedOps& found);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_CHANGED_PARTS_H_
