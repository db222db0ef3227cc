// How long to search for a choice, and whom to tell.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

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
  double gap = 0;   // The search ends when the cost is above the bound by no more than this part of itself.
  int threads = 0;  // 0: all cores.
  // Called after each step.
  std::function<void(const SolveProgress&)> progress;
  // Asked often, from several threads: true ends the search with the best so far.
  std::function<bool()> cancelled;
};

}  // namespace toroid
