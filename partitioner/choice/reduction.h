// A problem made smaller without a change of its best solutions.
//
// Parallel edges become one. A strategy that is forbidden, or that has a neighbour none of whose strategies goes with it, is
// dropped (arc consistency). Where each strategy of a node goes with exactly one of a neighbour and conversely, or where the
// neighbour has only one strategy left, both become one node: of the 35,000 nodes of a graph network 5,000 remain. A strategy
// that is nowhere cheaper and nowhere smaller than another is dropped.
//
// Memory becomes rows: the times at which usage can have a local maximum and at which the limit can be exceeded at all. What
// all strategies of a node use is taken off the limit of its rows.
//
// Example: nodes a (0, 3) and b (4, 0), an edge that forbids them to differ: one node of costs (4, 3).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/choice/problem.h"

namespace toroid {

// Usages by strategy, above that of the least, in the rows [begin, end).
struct CoreSegment {
  int begin = 0;
  int end = 0;
  std::vector<int64_t> usages;
};

struct CoreEdge {
  int a = 0;  // a < b
  int b = 0;
  std::vector<int64_t> costs;  // Row-major, those of a first.
};

// The smaller problem. Nodes are in the order of the first original nodes in them; costs are at least 0, and the cheapest
// strategy of a node costs 0.
struct ChoiceCore {
  std::vector<std::vector<int64_t>> costs;
  std::vector<std::vector<CoreSegment>> segments;  // By node, in order, disjoint.
  std::vector<CoreEdge> edges;
  std::vector<std::vector<std::pair<int, int>>> adjacent;  // By node: a neighbour and the edge to it.
  std::vector<int64_t> limits;                             // By row; negative where nothing fits.
  int64_t constant = 0;                                    // Added to every cost.

  int size() const { return static_cast<int>(costs.size()); }
  int strategies(int node) const { return static_cast<int>(costs[node].size()); }
};

struct Reduction {
  ChoiceCore core;
  // By node of the core: its original nodes, and for each strategy of the core's node theirs.
  std::vector<std::vector<std::pair<int, std::vector<int>>>> members;
  int original_nodes = 0;
};

// Errors: kFailedPrecondition, naming a node, if the forbidden combinations alone leave a node without a strategy.
// Requires: `problem` is verified.
absl::StatusOr<Reduction> Reduce(const ChoiceProblem& problem);

// The same without strategies and combinations that alone cost more than `most`: of the solutions that cost at most `most` a
// best one is still there. Requires: there is such a solution.
absl::StatusOr<Reduction> ReduceBelow(const ChoiceProblem& problem, int64_t most);

// The choice for the original nodes of one for the core.
std::vector<int> Expand(const Reduction& reduction, const std::vector<int>& core_choice);

// A choice for the core as near to one for the original nodes as its strategies allow: of each node the strategy that agrees
// with most.
std::vector<int> Contract(const Reduction& reduction, const std::vector<int>& choice);

// The exact cost of a core's choice, with its constant; kForbidden if a combination is forbidden.
int64_t CoreCost(const ChoiceCore& core, const std::vector<int>& choice);

}  // namespace toroid
