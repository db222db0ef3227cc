// Bound and searches in rounds, until the best choice of a core is proven or an end is reached; see solve.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "partitioner/choice/branch_and_bound.h"
#include "partitioner/choice/dual_ascent.h"
#include "partitioner/choice/reduction.h"
#include "partitioner/choice/searcher.h"

namespace toroid {

class SolveRounds {
 public:
  // Requires: `core` outlives this. `upper`: the cost of a known solution, if there is one; only better ones are looked for.
  SolveRounds(const ChoiceCore& core, std::optional<int64_t> upper, uint64_t seed, int threads);

  // A choice of the core that others found: taken if it fits and costs less than what is known, or as much as `upper` and
  // nothing is known yet.
  void Offer(const std::vector<int>& choice);

  // One round of work. `stop` is asked often, from several threads.
  void Run(const std::function<bool()>& stop);

  // Whether there is nothing better than the best found (or than `upper`).
  bool closed() const { return closed_; }
  // A choice that fits and costs less than `upper`; empty if there is none yet.
  const std::vector<int>& best() const { return best_.choice; }
  // Of the best, or `upper`.
  std::optional<int64_t> cost() const { return upper_; }
  // No solution costs less than this and less than cost().
  int64_t bound() const { return bound_; }

 private:
  void RunBound(int64_t work, const std::function<bool()>& stop);
  void AddSearcher();
  void Merge();
  SearchGuide Guide() const;
  std::vector<int> Start() const;

  const ChoiceCore& core_;
  const ChoiceCore tightened_;
  const SearchGraph graph_;
  DualAscent dual_;
  std::unique_ptr<BranchAndBound> branches_;
  std::vector<std::unique_ptr<Searcher>> searchers_;
  SearchGuide guide_;
  CoreSolution best_;
  std::optional<int64_t> upper_;
  int64_t bound_ = 0;
  int64_t bound_before_ = 0;
  int idle_rounds_ = 0;     // Without a better bound.
  int settled_rounds_ = 0;  // With hardly a better one.
  int quiet_rounds_ = 0;    // Without a better solution.
  int rounds_ = 0;
  uint64_t seed_;
  int threads_;
  bool closed_ = false;
};

}  // namespace toroid
