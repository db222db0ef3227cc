// Proves a solution best, or finds a better one, by splitting the strategies of one node after the other.
//
// A part of the solutions is a bound (dual_ascent.h) with fewer strategies. It is improved until it shows that the part holds
// nothing below the best known cost, or no longer improves; then one node's strategies are split in two parts. The part that
// looks better is explored first. What is left unexplored limits what can be said: bound() is the least over the open parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "partitioner/choice/dual_ascent.h"
#include "partitioner/choice/reduction.h"

namespace toroid {

class BranchAndBound {
 public:
  // Requires: `core` outlives this. No solution of cost `upper` or more is looked for.
  BranchAndBound(const ChoiceCore& core, DualAscent root, int64_t upper);

  // A better solution is known from elsewhere.
  void SetUpper(int64_t cost);

  // Explores until about `work` more cells of edges have been visited, `stop` returns true or nothing is left.
  void Run(int64_t work, const std::function<bool()>& stop);

  bool done() const { return open_.empty(); }
  // No solution costs less than the smaller of this and the best known cost.
  int64_t bound() const;
  // A solution below the upper cost, if one was found; else empty.
  const std::vector<int>& best() const { return best_; }
  int64_t upper() const { return upper_; }
  int64_t parts() const { return parts_; }

 private:
  void Explore(std::unique_ptr<DualAscent> part, int64_t until, const std::function<bool()>& stop);
  void Branch(std::unique_ptr<DualAscent> part);
  void Record(const DualAscent& part);

  const ChoiceCore& core_;
  std::vector<std::unique_ptr<DualAscent>> open_;
  std::vector<int> best_;
  int64_t upper_;
  int64_t work_ = 0;
  int64_t parts_ = 0;
};

}  // namespace toroid
