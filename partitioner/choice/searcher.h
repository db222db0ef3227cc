// One run of local search: from the bound's prices to a solution that fits, and from there through cycles of disturbance.
//
// 1. priced: prices take the place of limits; ends when moves no longer help.
// 2. repair: memory is brought below the limits at the least cost.
// 3. improve: moves that fit and cost less, until they no longer help; then cycles, each of which lets the cost rise by
//    a random part of the gap, by random changes of costs, and lowers it again.
//
// When the bound has become much better since, it starts again with 1.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "partitioner/choice/local_search.h"

namespace toroid {

// The best solution that fits, of the core; no choice if there is none.
struct CoreSolution {
  std::vector<int> choice;
  double cost = 0;

  bool found() const { return !choice.empty(); }
};

class Searcher {
 public:
  // At most `priced_moves` moves without limits. Requires: `graph` outlives this.
  Searcher(const SearchGraph& graph, const SearchGuide& guide, std::vector<int> start, int priced_moves,
           uint64_t seed);

  // Works for about `work` cells, or until `stop` returns true. `known` is the best solution of all searchers. Requires:
  // `guide` is valid until the next call.
  void Run(const SearchGuide& guide, const CoreSolution& known, int64_t work,
           const std::function<bool()>& stop);

  const CoreSolution& best() const { return best_; }
  // Of the present choice, while it does not fit.
  int64_t excess() const { return search_.excess(); }
  const std::vector<int>& choice() const { return search_.choice(); }

 private:
  enum class Phase { kPriced, kRepair, kImprove };

  void MovePriced();
  void MoveRepair();
  void MoveImprove(const CoreSolution& known);
  void BeginCycle(const CoreSolution& known);
  void Note();

  LocalSearch search_;
  const SearchGuide* guide_;
  Phase phase_ = Phase::kPriced;
  std::vector<int> priced_;  // The last result of kPriced.
  double gap_then_ = 0;      // The guide's gap when kPriced began.
  CoreSolution best_;
  int idle_ = 0;  // Moves since one helped.
  int patience_;
  int priced_moves_;
  int moves_ = 0;  // Of kPriced.
  // The cycle: its moves, how many are over, and how far it lets the cost rise at first.
  int cycle_length_ = 0;
  int cycle_move_ = 0;
  double amplitude_ = 0;
  double temperature_ = 0;
  bool use_known_ = false;
};

}  // namespace toroid
