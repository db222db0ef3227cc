#include "tests/partitioner/sharding_search/enumerate_choices.h"

#include <algorithm>
#include <vector>

namespace toroid {
namespace {

class Enumeration {
 public:
  Enumeration(const ChoiceProblem& problem, int64_t most_tried, bool by_peak)
      : problem_(problem), most_tried_(most_tried), by_peak_(by_peak), edges_(problem.nodes.size()) {
    const size_t n = problem.nodes.size();
    choice_.assign(n, 0);
    rest_.assign(n + 1, 0);
    for (const ChoiceNode& node : problem.nodes) times_.push_back(node.begin);
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    usage_.assign(times_.size(), 0);
    for (const ChoiceEdge& edge : problem.edges)
      edges_[*std::max_element(edge.nodes.begin(), edge.nodes.end())].push_back(&edge);
    for (size_t i = n; i-- > 0;) {
      rest_[i] = AddCosts(rest_[i + 1], Least(problem.nodes[i].costs));
      for (const ChoiceEdge* edge : edges_[i]) rest_[i] = AddCosts(rest_[i], Least(edge->costs));
      Use(i, LeastUsage(i));
    }
  }

  BestChoice Run() {
    best_.known = true;
    Extend(0, 0);
    return best_;
  }

 private:
  static int64_t Least(const std::vector<int64_t>& costs) {
    return std::min(kForbidden, *std::min_element(costs.begin(), costs.end()));
  }
  int64_t LeastUsage(size_t i) const {
    return *std::min_element(problem_.nodes[i].usages.begin(), problem_.nodes[i].usages.end());
  }

  void Use(size_t i, int64_t bytes) {
    const ChoiceNode& node = problem_.nodes[i];
    for (size_t t = 0; t < times_.size(); ++t) {
      if (node.begin <= times_[t] && times_[t] < node.end) usage_[t] += bytes;
    }
  }

  void Extend(size_t i, int64_t cost) {
    if (++best_.tried > most_tried_) best_.known = false;
    if (!best_.known || AddCosts(cost, rest_[i]) >= kForbidden) return;
    // Usages hold the least of the nodes that are not chosen yet.
    const int64_t peak = *std::max_element(usage_.begin(), usage_.end());
    if (!by_peak_ && problem_.usage_limit && peak > *problem_.usage_limit) return;
    if (best_.cost && (by_peak_ ? peak >= best_.peak : cost + rest_[i] >= *best_.cost)) return;
    if (i == choice_.size()) {
      best_.cost = cost;
      best_.peak = peak;
      return;
    }
    const ChoiceNode& node = problem_.nodes[i];
    for (size_t s = 0; s < node.costs.size(); ++s) {
      choice_[i] = static_cast<int>(s);
      int64_t now = AddCosts(cost, std::min(kForbidden, node.costs[s]));
      for (const ChoiceEdge* edge : edges_[i]) {
        size_t cell = 0;
        for (const int end : edge->nodes) cell = cell * problem_.nodes[end].costs.size() + choice_[end];
        now = AddCosts(now, std::min(kForbidden, edge->costs[cell]));
      }
      Use(i, node.usages[s] - LeastUsage(i));
      Extend(i + 1, now);
      Use(i, LeastUsage(i) - node.usages[s]);
    }
  }

  const ChoiceProblem& problem_;
  const int64_t most_tried_;
  const bool by_peak_;
  std::vector<std::vector<const ChoiceEdge*>> edges_;  // By their last node.
  std::vector<int> choice_;
  std::vector<int64_t> rest_;  // The least that nodes from a number on cost.
  std::vector<int64_t> times_, usage_;
  BestChoice best_;
};

}  // namespace

BestChoice EnumerateChoices(const ChoiceProblem& problem, int64_t most_tried) {
  return Enumeration(problem, most_tried, /*by_peak=*/false).Run();
}

BestChoice EnumeratePeaks(const ChoiceProblem& problem, int64_t most_tried) {
  return Enumeration(problem, most_tried, /*by_peak=*/true).Run();
}

}  // namespace toroid
