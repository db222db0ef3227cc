#include "partitioner/choice/first_solution.h"

#include <algorithm>
#include <cmath>

#include "partitioner/choice/local_search.h"

namespace toroid {
namespace {

constexpr int kLargeRegion = 100;
constexpr int64_t kWork = 2'000'000;  // Cells: to find one, and to improve it.

// Prices by which the memory that all nodes can use together costs as much as they do.
SearchGuide UniformGuide(const ChoiceCore& core) {
  double cost = 1;
  double usage = 1;
  for (int i = 0; i < core.size(); ++i) {
    double sum = 0;
    for (const int64_t one : core.costs[i]) sum += one < kForbidden ? static_cast<double>(one) : 0;
    cost += sum / core.strategies(i);
    for (const CoreSegment& segment : core.segments[i]) {
      usage += static_cast<double>(*std::max_element(segment.usages.begin(), segment.usages.end())) *
               (segment.end - segment.begin);
    }
  }
  const double price = cost / usage;
  SearchGuide guide;
  guide.price_sum = price * static_cast<double>(std::max<size_t>(1, core.limits.size()));
  guide.gap = cost;
  for (int i = 0; i < core.size(); ++i) {
    guide.excess.emplace_back(core.strategies(i), 0.0);
    std::vector<double>& prices = guide.prices.emplace_back(core.strategies(i), 0.0);
    for (const CoreSegment& segment : core.segments[i]) {
      for (int s = 0; s < core.strategies(i); ++s) {
        prices[s] += price * static_cast<double>(segment.usages[s]) * (segment.end - segment.begin);
      }
    }
  }
  return guide;
}

}  // namespace

std::vector<int> FirstSolution(const ChoiceCore& core, uint64_t seed, const std::function<bool()>& stop) {
  const SearchGraph graph(core);
  const SearchGuide guide = UniformGuide(core);
  std::vector<int> choice(core.size());
  for (int i = 0; i < core.size(); ++i) {
    int best = 0;
    for (int s = 1; s < core.strategies(i); ++s) {
      const auto priced = [&](int t) { return graph.costs[i][t] + 8 * guide.prices[i][t]; };
      if (priced(s) < priced(best)) best = s;
    }
    choice[i] = best;
  }
  LocalSearch search(graph, guide, seed);
  search.Start(std::move(choice), false);
  while (!search.feasible() && search.work() < kWork && !stop()) {
    MoveSettings settings;
    settings.largest_region = kLargeRegion;
    settings.price_factor = std::pow(2.0, 6 * search.random().Uniform() - 1);
    search.Move(settings);
  }
  if (!search.feasible()) return {};
  const int64_t until = search.work() + kWork;
  while (search.work() < until && !stop()) {
    MoveSettings settings;
    settings.largest_region = kLargeRegion;
    settings.price_factor = search.random().Below(2) == 0 ? 0 : std::pow(2.0, -8 * search.random().Uniform());
    search.Move(settings);
  }
  return search.choice();
}

}  // namespace toroid
