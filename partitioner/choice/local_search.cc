// BUILD: copts = ["-O3"]
#include "partitioner/choice/local_search.h"

#include <algorithm>
#include <cmath>

namespace toroid {
namespace {

constexpr int kAttempts = 8;              // To make a move fit, by prices.
constexpr size_t kLargestTable = 20'000;  // Combinations in a table of the elimination.
constexpr int kSmallRegion = 40;          // Larger ones consider few strategies.

double SearchCost(int64_t cost) {
  return cost >= kForbidden ? SearchGraph::kImpossible : static_cast<double>(cost);
}

}  // namespace

SearchGraph::SearchGraph(const ChoiceCore& core_in) : core(&core_in) {
  for (const std::vector<int64_t>& node : core->costs) {
    costs.emplace_back();
    for (const int64_t cost : node) costs.back().push_back(SearchCost(cost));
  }
  for (const CoreEdge& edge : core->edges) {
    const size_t rows = core->costs[edge.a].size();
    const size_t columns = core->costs[edge.b].size();
    std::vector<double>& forward = from_a.emplace_back(rows * columns);
    std::vector<double>& backward = from_b.emplace_back(rows * columns);
    for (size_t s = 0; s < rows; ++s) {
      for (size_t t = 0; t < columns; ++t) {
        forward[s * columns + t] = backward[t * rows + s] = SearchCost(edge.costs[s * columns + t]);
      }
    }
  }
}

LocalSearch::LocalSearch(const SearchGraph& graph, const SearchGuide& guide, uint64_t seed)
    : graph_(graph),
      core_(*graph.core),
      guide_(&guide),
      random_(seed),
      choice_(core_.size(), 0),
      rows_(core_, choice_),
      place_(core_.size(), -1),
      marked_(core_.size(), 0) {}

void LocalSearch::Start(std::vector<int> choice, bool ignore_memory) {
  choice_ = std::move(choice);
  ignore_memory_ = ignore_memory;
  cost_ = 0;
  for (int i = 0; i < core_.size(); ++i) {
    cost_ += graph_.costs[i][choice_[i]] + (ignore_memory ? guide_->prices[i][choice_[i]] : 0);
  }
  for (size_t e = 0; e < core_.edges.size(); ++e) {
    const CoreEdge& edge = core_.edges[e];
    cost_ += graph_.Row(static_cast<int>(e), edge.a, choice_[edge.a])[choice_[edge.b]];
  }
  rows_ = MemoryRows(core_, choice_);
  excess_ = ignore_memory ? 0 : rows_.Excess();
  const double rows = static_cast<double>(std::max<size_t>(1, core_.limits.size()));
  excess_weight_ = std::max(guide_->price_sum, 1e-9) * 0.01 / rows;
}

void LocalSearch::Grow(int seed, int size, const std::vector<int>* partner) {
  std::vector<int> front;
  const auto put = [&](int node) {
    if (marked_[node] || (partner != nullptr && (*partner)[node] == choice_[node])) return;
    marked_[node] = 1;
    front.push_back(node);
  };
  put(seed);
  for (int taken = 0; taken < size && !front.empty(); ++taken) {
    const int among = static_cast<int>(front.size());
    const int k = random_.Below(random_.Below(2) == 0 ? among : std::min(among, 4));
    const int node = front[k];
    front[k] = front.back();
    front.pop_back();
    region_.push_back(node);
    for (const auto& [neighbour, edge] : core_.adjacent[node]) put(neighbour);
  }
  for (const int node : front) marked_[node] = 0;
}

bool LocalSearch::AliveAt(int node, int row) const {
  return std::any_of(core_.segments[node].begin(), core_.segments[node].end(),
                     [row](const CoreSegment& segment) { return segment.begin <= row && row < segment.end; });
}

void LocalSearch::ChooseRegion(const MoveSettings& settings, int row) {
  region_.clear();
  const int size = static_cast<int>(2 * std::pow(settings.largest_region / 2.0, random_.Uniform()));
  const bool anywhere = ignore_memory_ || core_.limits.empty() || (row < 0 && random_.Below(4) == 0);
  if (!anywhere) {
    if (row < 0) row = rows_.RandomTightRow(random_);
    const int seeds = 1 + random_.Below(4);
    for (int k = 0; k < seeds; ++k) {
      for (int attempt = 0; attempt < 30; ++attempt) {
        const int node = random_.Below(core_.size());
        if (marked_[node] || !AliveAt(node, row)) continue;
        Grow(node, std::max(1, size / seeds), settings.partner);
        break;
      }
    }
  }
  for (int attempt = 0; region_.empty() && attempt < 30; ++attempt) {
    Grow(random_.Below(core_.size()), size, settings.partner);
  }
  for (const int node : region_) marked_[node] = 0;
}

void LocalSearch::ListStrategies(int node, const std::vector<double>& costs, const MoveSettings& settings,
                                 double within, size_t most, std::vector<int>& strategies) const {
  strategies.assign(1, choice_[node]);
  if (settings.partner != nullptr) {
    strategies.push_back((*settings.partner)[node]);
    return;
  }
  const std::vector<double>& excess = guide_->excess[node];
  for (int s = 0; s < static_cast<int>(costs.size()); ++s) {
    if (s != choice_[node] && costs[s] < SearchGraph::kImpossible && excess[s] <= within)
      strategies.push_back(s);
  }
  if (strategies.size() <= most) return;
  std::nth_element(strategies.begin() + 1, strategies.begin() + most - 1, strategies.end(),
                   [&](int s, int t) { return std::pair(excess[s], s) < std::pair(excess[t], t); });
  strategies.resize(most);
}

void LocalSearch::BuildRegion(const MoveSettings& settings) {
  const size_t size = region_.size();
  for (size_t k = 0; k < size; ++k) place_[region_[k]] = static_cast<int>(k);
  const bool few = size > kSmallRegion || random_.Below(2) == 0;
  const double within =
      few ? guide_->gap * std::pow(2.0, -14 * random_.Uniform()) : SearchGraph::kImpossible / 2;
  const size_t most = few ? 2 + random_.Below(size > 100 ? 6 : 20) : static_cast<size_t>(-1);
  strategies_.resize(size);
  problem_.costs.resize(size);
  problem_.edges.clear();
  std::vector<double> costs;
  for (size_t k = 0; k < size; ++k) {
    const int node = region_[k];
    costs = graph_.costs[node];
    for (const auto& [neighbour, edge] : core_.adjacent[node]) {
      if (place_[neighbour] >= 0) continue;
      const double* row = graph_.Row(edge, neighbour, choice_[neighbour]);
      for (size_t s = 0; s < costs.size(); ++s) costs[s] += row[s];
    }
    ListStrategies(node, costs, settings, within, most, strategies_[k]);
    problem_.costs[k].clear();
    for (const int s : strategies_[k]) problem_.costs[k].push_back(costs[s]);
  }
  for (size_t k = 0; k < size; ++k) {
    for (const auto& [neighbour, edge] : core_.adjacent[region_[k]]) {
      const int other = place_[neighbour];
      if (other < static_cast<int>(k)) continue;
      EliminationEdge& added = problem_.edges.emplace_back();
      added.a = static_cast<int>(k);
      added.b = other;
      for (const int s : strategies_[k]) {
        const double* row = graph_.Row(edge, region_[k], s);
        for (const int t : strategies_[other]) added.costs.push_back(row[t]);
      }
      work_ += static_cast<int64_t>(added.costs.size());
    }
  }
  for (const int node : region_) place_[node] = -1;
  noise_.clear();
  if (settings.temperature <= 0) return;
  for (size_t k = 0; k < size; ++k) {
    noise_.emplace_back(strategies_[k].size());
    for (double& noise : noise_.back())
      noise = settings.temperature * std::log(-std::log(random_.Uniform() + 1e-300));
  }
}

double LocalSearch::ValueOf(const std::vector<int>& positions) const {
  double value = 0;
  for (size_t k = 0; k < positions.size(); ++k) value += problem_.costs[k][positions[k]];
  for (const EliminationEdge& edge : problem_.edges) {
    value += edge.costs[positions[edge.a] * strategies_[edge.b].size() + positions[edge.b]];
  }
  return value;
}

double LocalSearch::PriceOf(const std::vector<int>& positions) const {
  double price = 0;
  for (size_t k = 0; k < positions.size(); ++k)
    price += guide_->prices[region_[k]][strategies_[k][positions[k]]];
  return price;
}

int64_t LocalSearch::UsageAt(int node, int strategy, int row) const {
  const std::vector<CoreSegment>& segments = core_.segments[node];
  const auto it = std::partition_point(segments.begin(), segments.end(),
                                       [row](const CoreSegment& segment) { return segment.end <= row; });
  return it != segments.end() && it->begin <= row ? it->usages[strategy] : 0;
}

void LocalSearch::Charge(double price_factor, const std::vector<Bump>& bumps,
                         EliminationProblem& problem) const {
  for (size_t k = 0; k < region_.size(); ++k) {
    const int node = region_[k];
    problem.costs[k] = problem_.costs[k];
    for (size_t p = 0; p < strategies_[k].size(); ++p) {
      const int s = strategies_[k][p];
      double charge = price_factor * guide_->prices[node][s];
      for (const Bump& bump : bumps) charge += bump.price * static_cast<double>(UsageAt(node, s, bump.row));
      if (!noise_.empty()) charge += noise_[k][p];
      problem.costs[k][p] += charge;
    }
  }
}

void LocalSearch::Apply(const std::vector<int>& positions, bool back) {
  for (size_t k = 0; k < positions.size(); ++k) {
    if (positions[k] == 0) continue;
    const int to = strategies_[k][back ? 0 : positions[k]];
    if (!ignore_memory_) rows_.Change(region_[k], choice_[region_[k]], to);
    choice_[region_[k]] = to;
  }
}

bool LocalSearch::Accept(const MoveSettings& settings, double change, int64_t excess) const {
  if (excess_ > 0) return change + excess_weight_ * static_cast<double>(excess - excess_) <= 0;
  return excess == 0 && (change <= 0 || (settings.temperature > 0 && cost_ + change <= settings.level));
}

bool LocalSearch::Move(const MoveSettings& settings) {
  work_ += 100;
  int row = -1;
  if (excess_ > 0) row = random_.Below(2) == 0 ? rows_.WorstRow() : rows_.RandomViolatedRow(random_);
  ChooseRegion(settings, row);
  if (region_.empty()) return false;
  BuildRegion(settings);
  const double scale = std::max(guide_->price_sum, 1e-9);
  std::vector<Bump> bumps;
  if (row >= 0) bumps.push_back({row, scale * std::pow(2.0, 10 * random_.Uniform() - 7)});
  const std::vector<int> present(region_.size(), 0);
  const double old_value = ValueOf(present);
  const double old_price = PriceOf(present);
  // The region's problem, with edges lent to it.
  EliminationProblem charged;
  charged.costs.resize(region_.size());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Charge(ignore_memory_ ? 1 : settings.price_factor, bumps, charged);
    std::swap(charged.edges, problem_.edges);
    const std::vector<int> positions = Eliminate(charged, kLargestTable, random_);
    std::swap(charged.edges, problem_.edges);
    work_ += static_cast<int64_t>(region_.size()) * 100;
    if (positions == present) break;
    const double value = ValueOf(positions);
    const double change = value - old_value + (ignore_memory_ ? PriceOf(positions) - old_price : 0);
    double charges = 0;  // Of the new choice, above those of the old.
    for (size_t k = 0; k < positions.size(); ++k) {
      charges += (charged.costs[k][positions[k]] - problem_.costs[k][positions[k]]) -
                 (charged.costs[k][0] - problem_.costs[k][0]);
    }
    Apply(positions, false);
    const int64_t excess = ignore_memory_ || rows_.Fits() ? 0 : rows_.Excess();
    if (Accept(settings, change, excess)) {
      cost_ += change;
      excess_ = excess;
      return true;
    }
    const int worst = excess > 0 ? rows_.WorstRow() : -1;
    const int64_t room = worst >= 0 ? rows_.Room(worst) : 0;
    Apply(positions, true);
    if (worst < 0) break;
    const int64_t more = rows_.Room(worst) - room;
    // The price at which both choices cost the same.
    const double gain = old_value - value - charges;
    if (more <= 0) {
      bumps.push_back({worst, scale * std::pow(2.0, 8 * random_.Uniform() - 5)});
    } else {
      bumps.push_back({worst, gain / static_cast<double>(more) *
                                      (random_.Below(2) == 0 ? 1.02 : 0.3 + random_.Uniform()) +
                                  1e-12});
    }
  }
  if (excess_ > 0) excess_weight_ = std::min(excess_weight_ * 1.01, 1e30);
  return false;
}

}  // namespace toroid
