// The best choice of a small problem by trying all of them, for tests.
#pragma once

#include <cstdint>
#include <optional>

#include "partitioner/choice/problem.h"

namespace toroid {

struct BestChoice {
  bool known = false;           // False if there were too many partial choices.
  std::optional<int64_t> cost;  // Of the cheapest choice that keeps the limit; nullopt: there is none.
  int64_t peak = 0;             // Its peak.
  int64_t tried = 0;            // Partial choices.
};

// Tries strategies node by node and leaves a partial choice only if its cost, with the least of everything that is not chosen
// yet, is no less than the best so far, or if its memory, with the least usage of all others, exceeds the limit.
BestChoice EnumerateChoices(const ChoiceProblem& problem, int64_t most_tried);

// The same, for the least peak of any allowed choice instead of the least cost.
BestChoice EnumeratePeaks(const ChoiceProblem& problem, int64_t most_tried);

}  // namespace toroid
