// Moves of many nodes at once: the best for a region of the graph, the rest being fixed.
//
// A move takes a region, 2 to some hundred nodes around nodes that are alive at a time of little memory or around any node, and
// finds its best strategies by elimination (elimination.h), each usage charged with the prices of the bound. If that does not
// fit, the price of the worst row is raised until the region's old and new choices would cost the same there, and the region is
// solved again. Large regions consider only strategies that the bound finds within a random distance of the best, or the
// strategies of another solution.
//
// While memory is exceeded, a move is taken if it lowers cost + weight * excess; the weight grows with each move that is not
// taken. Afterwards a move must fit.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "partitioner/choice/elimination.h"
#include "partitioner/choice/memory_rows.h"
#include "partitioner/choice/random_numbers.h"
#include "partitioner/choice/reduction.h"

namespace toroid {

// A core with its edges in both directions, as floating point numbers.
struct SearchGraph {
  explicit SearchGraph(const ChoiceCore& core);

  // The costs of an edge with `strategy` at its end `node`, by strategy of the other end.
  const double* Row(int edge, int node, int strategy) const {
    const CoreEdge& e = core->edges[edge];
    return e.a == node ? &from_a[edge][static_cast<size_t>(strategy) * core->costs[e.b].size()]
                       : &from_b[edge][static_cast<size_t>(strategy) * core->costs[e.a].size()];
  }

  static constexpr double kImpossible = 1e15;

  const ChoiceCore* core;
  std::vector<std::vector<double>> costs;
  std::vector<std::vector<double>> from_a;
  std::vector<std::vector<double>> from_b;
};

// What the bound knows: prices, and how far each strategy is from the best.
struct SearchGuide {
  std::vector<std::vector<double>> prices;  // Of usages, by node and strategy, in cost.
  std::vector<std::vector<double>> excess;  // kImpossible for strategies that are dropped.
  double price_sum = 0;                     // Of rows, per byte.
  double gap = 1;                           // The largest excess that can matter.
};

struct MoveSettings {
  int largest_region = 40;
  double price_factor = 0;  // Of the guide's prices, in the region's problem.
  double temperature = 0;   // Random changes of costs in the region's problem.
  double level = 0;         // With a temperature: moves that keep the cost below this are taken.
  const std::vector<int>* partner =
      nullptr;  // Another solution: only nodes that differ, only its strategies.
};

class LocalSearch {
 public:
  // Requires: `graph` outlives this, and `guide` until the next SetGuide.
  LocalSearch(const SearchGraph& graph, const SearchGuide& guide, uint64_t seed);

  void SetGuide(const SearchGuide& guide) { guide_ = &guide; }

  // Starts from a choice. With `ignore_memory` prices take the place of limits.
  void Start(std::vector<int> choice, bool ignore_memory);

  // One move; returns whether it was taken.
  bool Move(const MoveSettings& settings);

  const std::vector<int>& choice() const { return choice_; }
  double cost() const { return cost_; }  // With prices if memory is ignored; without the core's constant.
  int64_t excess() const { return excess_; }
  bool feasible() const { return excess_ == 0 && cost_ < SearchGraph::kImpossible; }
  RandomNumbers& random() { return random_; }
  // Work done since the start, in cells.
  int64_t work() const { return work_; }

 private:
  struct Bump {
    int row;
    double price;
  };

  void Grow(int seed, int size, const std::vector<int>* partner);
  void ChooseRegion(const MoveSettings& settings, int row);
  void BuildRegion(const MoveSettings& settings);
  void ListStrategies(int node, const std::vector<double>& costs, const MoveSettings& settings, double within,
                      size_t most, std::vector<int>& strategies) const;
  double ValueOf(const std::vector<int>& positions) const;
  double PriceOf(const std::vector<int>& positions) const;
  void Charge(double price_factor, const std::vector<Bump>& bumps, EliminationProblem& problem) const;
  void Apply(const std::vector<int>& positions, bool back);
  bool Accept(const MoveSettings& settings, double change, int64_t excess) const;
  int64_t UsageAt(int node, int strategy, int row) const;
  bool AliveAt(int node, int row) const;

  const SearchGraph& graph_;
  const ChoiceCore& core_;
  const SearchGuide* guide_;
  RandomNumbers random_;
  std::vector<int> choice_;
  MemoryRows rows_;
  bool ignore_memory_ = false;
  double cost_ = 0;
  int64_t excess_ = 0;
  double excess_weight_ = 0;
  int64_t work_ = 0;

  // The region.
  std::vector<int> region_;
  std::vector<int> place_;  // By node: its place in the region, or -1.
  std::vector<char> marked_;
  std::vector<std::vector<int>> strategies_;  // By place; the first is the present one.
  EliminationProblem problem_;                // Costs without prices.
  std::vector<std::vector<double>> noise_;
};

}  // namespace toroid
