// BUILD: copts = ["-O3"]
#include "partitioner/choice/dual_ascent.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace toroid {
namespace {

constexpr int64_t kBlocked = int64_t{1} << 59;  // A forbidden combination.
constexpr int kCostBits = 48;                   // Of the largest allowed cost after scaling, at most.
constexpr int kFittingSteps = 16;               // Steps from one look at what does not fit to the next.

// The power of two that brings the largest allowed cost to kCostBits, or less so that all sums stay below kTotal.
int ScaleOf(const ChoiceCore& core, int total_bits) {
  int64_t largest = 1;
  const auto add = [&](const std::vector<int64_t>& costs) {
    for (const int64_t cost : costs) largest = cost < kForbidden ? std::max(largest, cost) : largest;
  };
  for (const std::vector<int64_t>& costs : core.costs) add(costs);
  for (const CoreEdge& edge : core.edges) add(edge.costs);
  int bits = 0;
  while ((largest >> bits) > 0) ++bits;
  int terms = 1;
  while ((core.costs.size() + core.edges.size()) >> terms > 0) ++terms;
  return std::min(std::min(kCostBits, total_bits - terms) - bits, 30);
}

template <typename T>
void KeepPositions(std::vector<T>& list, const std::vector<int>& kept) {
  for (size_t k = 0; k < kept.size(); ++k) list[k] = list[kept[k]];
  list.resize(kept.size());
}

}  // namespace

DualAscent::DualAscent(const ChoiceCore& core)
    : core_(&core),
      scale_(ScaleOf(core, kTotalBits)),
      segments_(core.segments),
      forward_(core.size()),
      backward_(core.size()),
      excess_(core.size()),
      prices_(core.limits.size()),
      best_prices_(core.limits.size()),
      velocity_(core.limits.size()) {
  for (const std::vector<int64_t>& costs : core.costs) {
    std::vector<int> all(costs.size());
    std::iota(all.begin(), all.end(), 0);
    strategies_.push_back(std::move(all));
    std::vector<int64_t> scaled;
    for (const int64_t cost : costs) scaled.push_back(cost >= kForbidden ? kLargest : Scale(cost));
    costs_.push_back(std::move(scaled));
    charged_.emplace_back(costs.size(), 0);
    least_sum_ += Least(costs_.back());
  }
  for (int i = 0; i < core.size(); ++i) excess_[i].assign(Size(i), 0);
  for (const CoreEdge& edge : core.edges) {
    Edge added{edge.a, edge.b, {}, std::vector<int64_t>(Size(edge.a)), std::vector<int64_t>(Size(edge.b))};
    for (const int64_t cost : edge.costs) added.costs.push_back(cost >= kForbidden ? kBlocked : Scale(cost));
    forward_[edge.a].push_back(static_cast<int>(edges_.size()));
    backward_[edge.b].push_back(static_cast<int>(edges_.size()));
    edges_.push_back(std::move(added));
  }
  bound_ = core.constant;
  // No allowed solution costs more than the sum of the largest costs.
  const auto add_largest = [&](const std::vector<int64_t>& costs, int64_t forbidden) {
    int64_t largest = 0;
    for (const int64_t cost : costs) largest = cost < forbidden ? std::max(largest, cost) : largest;
    upper_ += largest;
  };
  for (const std::vector<int64_t>& costs : costs_) add_largest(costs, kLargest);
  for (const Edge& edge : edges_) add_largest(edge.costs, kBlocked);
  closed_ = DropUnfitting();
}

void DualAscent::SetUpper(int64_t cost) {
  const int64_t most = cost - 1 - core_->constant;  // The most that a better solution costs here.
  if (most < 0) {
    closed_ = true;
    return;
  }
  // Where costs are rounded down, so is that of a solution that costs `most`, by at least as much.
  if (scale_ < 0 || most <= (upper_ >> scale_)) upper_ = std::min(upper_, Scale(most));
  has_upper_ = true;
}

// Moves what each strategy of `node` pays at least on the edge to the node.
void DualAscent::Draw(int node, Edge& edge) {
  const int rows = static_cast<int>(edge.to_a.size());
  const int columns = static_cast<int>(edge.to_b.size());
  work_ += static_cast<int64_t>(rows) * columns;
  int64_t* own = costs_[node].data();
  if (edge.a == node) {
    const int64_t* other = edge.to_b.data();
    for (int s = 0; s < rows; ++s) {
      const int64_t* cost = &edge.costs[static_cast<size_t>(s) * columns];
      int64_t least = kBlocked;
      for (int t = 0; t < columns; ++t) least = std::min(least, cost[t] - other[t]);
      const int64_t drawn = std::min(least - edge.to_a[s], kLargest);
      edge.to_a[s] += drawn;
      own[s] += drawn;
    }
    return;
  }
  buffer_.assign(columns, kBlocked);
  int64_t* least = buffer_.data();
  for (int s = 0; s < rows; ++s) {
    const int64_t other = edge.to_a[s];
    const int64_t* cost = &edge.costs[static_cast<size_t>(s) * columns];
    for (int t = 0; t < columns; ++t) least[t] = std::min(least[t], cost[t] - other);
  }
  for (int t = 0; t < columns; ++t) {
    const int64_t drawn = std::min(least[t] - edge.to_b[t], kLargest);
    edge.to_b[t] += drawn;
    own[t] += drawn;
  }
}

void DualAscent::Visit(int node, bool forward) {
  std::vector<int64_t>& costs = costs_[node];
  work_ += 20 + Size(node);
  least_sum_ -= Least(costs);
  // The edges handed on to since this node's last visit; the others hold nothing for it.
  for (const int e : forward ? backward_[node] : forward_[node]) Draw(node, edges_[e]);
  if (!drawn_ && forward) {
    for (const int e : forward_[node]) Draw(node, edges_[e]);
  }
  least_sum_ += Least(costs);
  DropAbove(node);
  if (closed_) return;
  const int64_t least = Least(costs);
  if (!forward) {
    for (int s = 0; s < Size(node); ++s)
      excess_[node][s] = std::ldexp(static_cast<double>(costs[s] - least), -scale_);
  }
  const std::vector<int>& next = forward ? forward_[node] : backward_[node];
  if (next.empty()) return;
  const int64_t parts = static_cast<int64_t>(std::max(forward_[node].size(), backward_[node].size()));
  buffer_.resize(Size(node));
  for (int s = 0; s < Size(node); ++s) {
    buffer_[s] = (costs[s] - least) / parts;
    costs[s] -= buffer_[s] * static_cast<int64_t>(next.size());
  }
  for (const int e : next) {
    std::vector<int64_t>& message = edges_[e].a == node ? edges_[e].to_a : edges_[e].to_b;
    for (int s = 0; s < Size(node); ++s) message[s] -= buffer_[s];
  }
}

// Drops the strategies of `node` without which no solution below the upper cost is lost. All edges' least costs are
// at least 0 here, so the nodes' alone are a bound.
void DualAscent::DropAbove(int node) {
  const std::vector<int64_t>& costs = costs_[node];
  const __int128 others = least_sum_ - Least(costs) - limit_charge_;
  std::vector<int> kept;
  for (int s = 0; s < Size(node); ++s) {
    if (others + costs[s] <= upper_) kept.push_back(s);
  }
  if (kept.empty()) {
    closed_ = true;
  } else if (static_cast<int>(kept.size()) < Size(node)) {
    Restrict(node, kept);
  }
}

void DualAscent::Restrict(int node, const std::vector<int>& kept) {
  least_sum_ -= Least(costs_[node]);
  KeepPositions(strategies_[node], kept);
  KeepPositions(costs_[node], kept);
  KeepPositions(charged_[node], kept);
  KeepPositions(excess_[node], kept);
  least_sum_ += Least(costs_[node]);
  for (CoreSegment& segment : segments_[node]) KeepPositions(segment.usages, kept);
  for (const std::vector<int>* list : {&forward_[node], &backward_[node]}) {
    for (const int e : *list) {
      Edge& edge = edges_[e];
      const size_t columns = edge.to_b.size();
      std::vector<int64_t> costs;
      if (edge.a == node) {
        KeepPositions(edge.to_a, kept);
        for (const int s : kept) {
          costs.insert(costs.end(), edge.costs.begin() + s * columns, edge.costs.begin() + (s + 1) * columns);
        }
      } else {
        for (size_t row = 0; row < edge.to_a.size(); ++row) {
          for (const int t : kept) costs.push_back(edge.costs[row * columns + t]);
        }
        KeepPositions(edge.to_b, kept);
      }
      edge.costs = std::move(costs);
    }
  }
}

// Drops strategies that exceed a row's limit beside the least that all other nodes use. Returns whether a node or a row has
// nothing left.
bool DualAscent::DropUnfitting() {
  const size_t rows = core_->limits.size();
  bool changed = true;
  while (changed) {
    changed = false;
    std::vector<int64_t> slack(rows + 1);
    for (const std::vector<CoreSegment>& node : segments_) {
      for (const CoreSegment& segment : node) {
        const int64_t least = Least(segment.usages);
        slack[segment.begin] -= least;
        slack[segment.end] += least;
      }
    }
    for (size_t r = 1; r < rows; ++r) slack[r] += slack[r - 1];
    for (size_t r = 0; r < rows; ++r) {
      slack[r] += core_->limits[r];
      if (slack[r] < 0) return true;
    }
    for (int i = 0; i < core_->size(); ++i) {
      std::vector<char> fits(Size(i), 1);
      for (const CoreSegment& segment : segments_[i]) {
        const int64_t room = *std::min_element(slack.begin() + segment.begin, slack.begin() + segment.end);
        const int64_t least = Least(segment.usages);
        for (int s = 0; s < Size(i); ++s) fits[s] &= segment.usages[s] - least <= room;
      }
      std::vector<int> kept;
      for (int s = 0; s < Size(i); ++s) {
        if (fits[s]) kept.push_back(s);
      }
      if (kept.empty()) return true;
      if (static_cast<int>(kept.size()) == Size(i)) continue;
      Restrict(i, kept);
      changed = true;
    }
  }
  return false;
}

bool DualAscent::Fits() {
  closed_ = closed_ || DropUnfitting();
  return !closed_;
}

void DualAscent::Renew() {
  best_value_ = -1e300;
  steps_ = 0;
  step_ = std::max(step_, 0.003);
  temperature_ = std::max(temperature_, 1e-4);
  failures_ = 0;
  successes_ = 0;
}

void DualAscent::RecordBound() {
  const __int128 scaled = least_sum_ - limit_charge_;
  // Rounded up: the cost of a solution is an integer.
  const __int128 unit = scale_ >= 0 ? __int128{1} << scale_ : 1;
  __int128 cost = scaled / unit + (scaled % unit > 0 ? 1 : 0);
  if (scale_ < 0) cost = scaled << -scale_;
  if (cost > 0)
    bound_ = std::max(bound_, core_->constant + static_cast<int64_t>(std::min<__int128>(cost, kForbidden)));
  if (scaled > upper_) closed_ = true;
}

void DualAscent::Sweep() {
  const int size = core_->size();
  for (int i = 0; i < size && !closed_; ++i) Visit(i, true);
  drawn_ = true;
  for (int i = size - 1; i >= 0 && !closed_; --i) Visit(i, false);
  if (!closed_) RecordBound();
}

void DualAscent::Step() {
  if (closed_) return;
  Sweep();
  if (closed_ || core_->limits.empty()) return;
  if (steps_++ % kFittingSteps == 0 && DropUnfitting()) {
    closed_ = true;
    return;
  }
  work_ += 10 * static_cast<int64_t>(core_->limits.size());
  UpdatePrices();
}

}  // namespace toroid
