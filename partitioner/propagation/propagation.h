// Sharding propagation: from the shardings some tensors are given to one for every tensor.
//
// 1. For every op, each factor takes the longest list of axes on which the tensors that have it agree, and
//    hands it to those of them that are not cut yet, unless an axis is wanted by another factor of the op, is
//    used in another dimension of the tensor, or the dimension is closed. To a fixed point: first through ops that only
//    pass data through, then all but broadcasts from operand to result, then all; contractions of which only small
//    tensors are cut wait for the large ones.
// 2. Of the ops whose tensors disagree, the one with most bytes at stake is settled by the assignment that
//    moves the fewest bytes; what it decides spreads as in 1. A tensor's sharding only ever grows, so this
//    ends.
// Dimensions of lower priority wait until the higher ones have settled. At the boundary of a manual region the axes that
// are free inside flow from either side to the other.
//
// Example: x[{e}, {}] in x[G,S] * m[G,E] -> y[E,S] with y[{e}, {}]: the axis e is wanted by G and by E; m, if
// nothing else cuts it, gets what costs least.
// Sources: GSPMD, arXiv:2105.04663, section 3.5, for priorities; Shardy's factor propagation.
#ifndef TOROID_PARTITIONER_PROPAGATION_PROPAGATION_H_
#define TOROID_PARTITIONER_PROPAGATION_PROPAGATION_H_

#include <vector>

#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"
#include "partitioner/reshard/plan.h"

namespace toroid {

// The sharding of every tensor; never partial.
std::vector<Sharding> PropagateShardings(const FlowGraph& graph, const Annotations& annotations,
                                         ReshardPlanner* planner);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_PROPAGATION_H_
