// A proven lower bound on the cost of a ChoiceCore, by messages between neighbours and prices of memory.
//
// Each edge holds a message to each of its ends, integers by strategy: the message to a node is added to the node's costs and
// subtracted from the edge's. No choice's total changes. Each row r has a price p_r >= 0 of a byte:
//
//   cost(x)  >=  cost(x) + sum over r of p_r * (usage_r(x) - limit_r)          where x keeps the limits
//            >=  sum over nodes of min over s of (costs, messages, prices)  +  sum over edges of min  -  sum of p_r * limit_r
//
// for any messages and prices; both are improved in turn. A sweep visits the nodes in order and back: a node draws from its
// edges what every strategy must pay there, keeps the least of it, and hands the rest on to its later (earlier) edges in equal
// parts. The price of a row then moves with momentum along the usage of the strategies near the minimum, less the limit.
//
// All of it is arithmetic of integers: costs are multiplied by a power of two (or divided, rounded down, when large), prices
// are multiples of 2^-20 of such a unit, their products rounded so that the bound only becomes smaller. So the bound is exact.
//
// A strategy whose own bound is above the best known cost is dropped, and so is one that does not fit beside the least
// that all others use.
//
// Source: V. Kolmogorov, Convergent tree-reweighted message passing for energy minimization, PAMI 2006; the same, A new look
// at reweighted message passing, PAMI 2015.
// BUILD: srcs += "dual_prices.cc"
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "partitioner/choice/reduction.h"

namespace toroid {

class DualAscent {
 public:
  explicit DualAscent(const ChoiceCore& core);

  // From now on only solutions of a cost below `cost` matter. Requires: not above an earlier one.
  void SetUpper(int64_t cost);

  // One sweep forth and back, then one step of the prices.
  void Step();

  // Sweeps alone, which tighten the bound under the prices as they are.
  void Sweep();

  // No solution whose cost is below the upper cost costs less than this.
  int64_t bound() const { return bound_; }

  // No solution costs less than the upper cost.
  bool closed() const { return closed_; }

  // The best prices found: by node and strategy of the core, what its usage costs. In units of cost.
  std::vector<std::vector<double>> UsagePrices() const;
  // The sum of prices of rows, in units of cost per byte.
  double PriceSum() const;

  // By node: the strategies left, as strategies of the core, and by how much each is above the least.
  const std::vector<std::vector<int>>& strategies() const { return strategies_; }
  const std::vector<std::vector<double>>& excess() const { return excess_; }

  // Keeps only these strategies (positions in strategies()) of a node.
  void Restrict(int node, const std::vector<int>& kept);

  // Drops strategies that do not fit; whether something is left.
  bool Fits();

  // After strategies were taken away: prices are sought from here on, with larger steps again.
  void Renew();

  // Work done since the start, in cells of edges visited.
  int64_t work() const { return work_; }

 private:
  struct Edge {
    int a = 0;
    int b = 0;
    std::vector<int64_t> costs;
    std::vector<int64_t> to_a;
    std::vector<int64_t> to_b;
  };

  // All allowed solutions cost less than kTotal, and so does what prices take off a bound. A strategy that draws kLargest,
  // because nothing goes with it, is dropped at once, and so nothing overflows.
  static constexpr int kTotalBits = 54;
  static constexpr int64_t kTotal = int64_t{1} << kTotalBits;
  static constexpr int64_t kLargest = int64_t{1} << 57;

  static int64_t Least(const std::vector<int64_t>& costs) {
    return *std::min_element(costs.begin(), costs.end());
  }
  int Size(int node) const { return static_cast<int>(strategies_[node].size()); }
  int64_t Scale(int64_t cost) const { return scale_ >= 0 ? cost << scale_ : cost >> -scale_; }
  void Draw(int node, Edge& edge);
  void Visit(int node, bool forward);
  void DropAbove(int node);
  bool DropUnfitting();
  void UpdatePrices();
  bool SetPrices(const std::vector<double>& prices);
  void AdaptStep(double value, double range);
  void RecordBound();
  // The usage of each row less its limit, a node's strategies weighed by e^(-excess / distance).
  std::vector<double> UsageAboveLimits(double distance) const;

  const ChoiceCore* core_;
  int scale_ = 0;  // Costs here are multiplied by 2^scale_.
  std::vector<std::vector<int>> strategies_;
  std::vector<std::vector<int64_t>> costs_;    // With messages and prices.
  std::vector<std::vector<int64_t>> charged_;  // The prices in them.
  std::vector<std::vector<CoreSegment>> segments_;
  std::vector<Edge> edges_;
  std::vector<std::vector<int>> forward_;   // Edges by their earlier node,
  std::vector<std::vector<int>> backward_;  // and by their later.
  std::vector<std::vector<double>> excess_;
  std::vector<double> prices_;  // By row, in scaled units.
  std::vector<double> best_prices_;
  std::vector<double> velocity_;
  int64_t limit_charge_ = 0;  // The sum of p_r * limit_r, rounded up.
  int64_t upper_ = 0;         // Scaled: solutions above it do not matter.
  int64_t bound_ = 0;
  double best_value_ = -1e300;  // Of the prices, scaled.
  bool closed_ = false;
  bool has_upper_ = false;  // Whether upper_ is of a solution, rather than the sum of the largest costs.
  bool drawn_ = false;      // Whether all edges have been drawn from once.
  double step_ = 0.01;
  double temperature_ = 5e-4;
  int64_t steps_ = 0;
  int failures_ = 0;
  int successes_ = 0;
  int64_t work_ = 0;
  __int128 least_sum_ = 0;  // The sum of the nodes' least costs.
  std::vector<int64_t> buffer_;
};

}  // namespace toroid
