// Small random problems and their best answers by enumeration.
#pragma once

#include <cstdint>
#include <optional>

#include "partitioner/choice/problem.h"
#include "partitioner/choice/random_numbers.h"

namespace toroid {

// 1 to `most_nodes` nodes of 1 to 4 strategies, about 1.5 edges a node, some parallel, some of one or three nodes, a third with
// forbidden combinations or tied strategies; no limit.
inline ChoiceProblem RandomProblem(RandomNumbers& random, int most_nodes) {
  ChoiceProblem problem;
  const int size = 1 + random.Below(most_nodes);
  for (int i = 0; i < size; ++i) {
    ChoiceNode& node = problem.nodes.emplace_back();
    const int strategies = 1 + random.Below(4);
    for (int s = 0; s < strategies; ++s) {
      node.costs.push_back(random.Below(40) == 0 ? kForbidden : random.Below(30));
      node.usages.push_back(random.Below(20));
    }
    node.begin = random.Below(10);
    node.end = node.begin + random.Below(8);
  }
  for (int e = random.Below(3 * size); e > 0; --e) {
    ChoiceEdge& edge = problem.edges.emplace_back();
    const int kind = random.Below(12);
    const int ends = kind == 0 ? 1 : kind == 1 ? 3 : 2;
    size_t cells = 1;
    for (int k = 0; k < ends; ++k) {
      edge.nodes.push_back(random.Below(size));
      cells *= problem.nodes[edge.nodes.back()].costs.size();
    }
    const bool tied = ends == 2 && random.Below(3) == 0;
    const size_t last = problem.nodes[edge.nodes.back()].costs.size();
    for (size_t c = 0; c < cells; ++c) {
      const bool forbidden = tied ? c / last != c % last : random.Below(12) == 0;
      edge.costs.push_back(forbidden ? kForbidden : random.Below(25));
    }
  }
  return problem;
}

struct Enumerated {
  std::optional<int64_t> cost;        // The least within the limit, if anything is.
  std::optional<int64_t> least_peak;  // Of all allowed choices.
};

inline Enumerated Enumerate(const ChoiceProblem& problem) {
  Enumerated best;
  std::vector<int> choice(problem.nodes.size(), 0);
  while (true) {
    const ChoiceValue value = Evaluate(problem, choice);
    if (value.cost < kForbidden) {
      if (!best.least_peak.has_value() || value.peak < *best.least_peak) best.least_peak = value.peak;
      const bool fits = !problem.usage_limit.has_value() || value.peak <= *problem.usage_limit;
      if (fits && (!best.cost.has_value() || value.cost < *best.cost)) best.cost = value.cost;
    }
    size_t i = 0;
    for (; i < choice.size(); ++i) {
      if (++choice[i] < static_cast<int>(problem.nodes[i].costs.size())) break;
      choice[i] = 0;
    }
    if (i == choice.size()) return best;
  }
}

}  // namespace toroid
