// The best choice for some nodes, the others being fixed, without memory: by eliminating one node after the other.
//
// A node is eliminated by a table over its neighbours: for each combination of theirs the least that the node and what was
// eliminated into it can cost. The next node is always the one with the smallest table. Where even that is too large, a node
// is held at the strategy it has, so that the rest falls apart; then the result is the best given those held.
//
// Chains, trees and series-parallel graphs need no table of more than three nodes.
#pragma once

#include <cstddef>
#include <vector>

#include "partitioner/choice/random_numbers.h"

namespace toroid {

struct EliminationEdge {
  int a = 0;
  int b = 0;
  std::vector<double> costs;  // Row-major, those of a first.
};

struct EliminationProblem {
  std::vector<std::vector<double>> costs;  // By node and strategy.
  std::vector<EliminationEdge> edges;      // No two between the same nodes.
};

// The strategies that minimise the sum of costs. Nodes that are held have strategy 0; which ones is drawn from
// `random`. No table is larger than `largest_table` combinations.
std::vector<int> Eliminate(const EliminationProblem& problem, size_t largest_table, RandomNumbers& random);

}  // namespace toroid
