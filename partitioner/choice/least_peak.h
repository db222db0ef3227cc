// The least memory with which there is a choice at all, whatever it costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/choice/problem.h"
#include "partitioner/choice/solve_options.h"

namespace toroid {

struct LeastPeak {
  std::vector<int> choice;  // The choice with the least peak that was found.
  int64_t peak = 0;         // Its peak.
  int64_t bound = 0;  // No choice has a smaller peak; the same as `peak` unless the search ended too early.
};

// Halves the distance between the least that is possible and the least that was found, each time by a search without costs.
// Errors: those of Solve for malformed problems, and for those without an allowed choice.
absl::StatusOr<LeastPeak> FindLeastPeak(const ChoiceProblem& problem, const SolveOptions& options);

// "at least 14 bytes are needed, at time 5 by a (8), b (6)".
std::string Describe(const ChoiceProblem& problem, const LeastPeak& least);

}  // namespace toroid
