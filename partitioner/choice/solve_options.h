// How long to search for a choice, and whom to tell.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace toroid {

struct SolveProgress {
  double seconds = 0;
  int64_t steps = 0;
  std::optional<int64_t> cost;  // Of the best choice so far.
  int64_t bound = 0;
};

struct SolveOptions {
  uint64_t seed = 1;
  int64_t steps = 100;  // At most; a step takes a fraction of a second. Ignored if `seconds` is given.
  std::optional<double> seconds;  // At most, and then as many steps as it takes: not the same on each run.
  double gap = 0;  // The search ends when the cost is above the bound by no more than this part of itself.
  // Choices that are known, of this problem or of one with the same nodes and strategies: the answer is no worse than any of
  // them that fits.
  std::vector<std::vector<int>> starts;
  // The search ends when a choice is there and the gap has not shrunk by a tenth of itself in so many steps; 0: it goes on.
  int64_t patience = 0;
  bool explains_failure = true;  // If nothing fits: looks for the least memory that is possible.
  int threads = 0;               // 0: all cores.
  // Called after each step.
  std::function<void(const SolveProgress&)> progress;
  // Asked often, from several threads: true ends the search with the best so far.
  std::function<bool()> cancelled;
};

}  // namespace toroid
