#include "partitioner/choice/reduction.h"

#include <algorithm>
#include <map>

#include "hlo/base/status.h"
#include "partitioner/choice/contraction.h"

namespace toroid {
namespace {

// How many rounds of dropping dominated strategies and contracting again.
constexpr int kRounds = 4;

// The starts of lives after which something ends before the next start: no other time has a larger usage.
std::vector<int64_t> PeakTimes(const ChoiceProblem& problem) {
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  for (const ChoiceNode& node : problem.nodes) {
    if (node.begin >= node.end) continue;
    begins.push_back(node.begin);
    ends.push_back(node.end);
  }
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::sort(ends.begin(), ends.end());
  std::vector<int64_t> times;
  for (size_t i = 0; i < begins.size(); ++i) {
    const auto end = std::upper_bound(ends.begin(), ends.end(), begins[i]);
    if (i + 1 == begins.size() || (end != ends.end() && *end <= begins[i + 1])) times.push_back(begins[i]);
  }
  return times;
}

// A node's usage as changes at rows: row -> change by strategy.
using UsageChanges = std::map<int, std::vector<int64_t>>;

// Calls fn(begin, end, usages) for each stretch of rows in which a node's usages are the same.
template <typename Fn>
void ForEachStretch(const UsageChanges& changes, Fn fn) {
  std::vector<int64_t> usages;
  int begin = 0;
  for (const auto& [row, change] : changes) {
    if (!usages.empty() && row > begin) fn(begin, row, usages);
    usages.resize(change.size());
    for (size_t s = 0; s < change.size(); ++s) usages[s] += change[s];
    begin = row;
  }
}

std::vector<UsageChanges> ChangesOfNodes(const ChoiceProblem& problem, const Reduction& reduction,
                                         const std::vector<int64_t>& times) {
  std::vector<UsageChanges> changes(reduction.members.size());
  const auto row_of = [&](int64_t time) {
    return static_cast<int>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    const size_t strategies = reduction.core.costs[i].size();
    for (const auto& [original, map] : reduction.members[i]) {
      const ChoiceNode& node = problem.nodes[original];
      const int begin = row_of(node.begin);
      const int end = row_of(node.end);
      if (begin >= end) continue;
      std::vector<int64_t>& first = changes[i][begin];
      std::vector<int64_t>& last = changes[i][end];
      first.resize(strategies);
      last.resize(strategies);
      for (size_t s = 0; s < strategies; ++s) {
        first[s] += node.usages[map[s]];
        last[s] -= node.usages[map[s]];
      }
    }
  }
  return changes;
}

void AddSegment(std::vector<CoreSegment>& segments, int begin, int end, const std::vector<int64_t>& usages,
                int64_t least) {
  if (begin >= end || *std::max_element(usages.begin(), usages.end()) == least) return;
  std::vector<int64_t> above = usages;
  for (int64_t& usage : above) usage -= least;
  if (!segments.empty() && segments.back().end == begin && segments.back().usages == above) {
    segments.back().end = end;
  } else {
    segments.push_back({begin, end, std::move(above)});
  }
}

void AddMemory(const ChoiceProblem& problem, Reduction& reduction) {
  ChoiceCore& core = reduction.core;
  core.segments.resize(core.size());
  if (!problem.usage_limit.has_value()) return;
  const int64_t limit = *problem.usage_limit;
  const std::vector<int64_t> times = PeakTimes(problem);
  const std::vector<UsageChanges> changes = ChangesOfNodes(problem, reduction, times);
  std::vector<int64_t> least(times.size() + 1);  // Differences, then sums.
  std::vector<int64_t> most(times.size() + 1);
  for (const UsageChanges& node : changes) {
    ForEachStretch(node, [&](int begin, int end, const std::vector<int64_t>& usages) {
      const auto [low, high] = std::minmax_element(usages.begin(), usages.end());
      least[begin] += *low;
      least[end] -= *low;
      most[begin] += *high;
      most[end] -= *high;
    });
  }
  std::vector<int> row(times.size() + 1);
  for (size_t t = 0; t < times.size(); ++t) {
    if (t > 0) least[t] += least[t - 1];
    if (t > 0) most[t] += most[t - 1];
    row[t] = static_cast<int>(core.limits.size());
    if (most[t] > limit) core.limits.push_back(limit - least[t]);
  }
  row[times.size()] = static_cast<int>(core.limits.size());
  for (int i = 0; i < core.size(); ++i) {
    ForEachStretch(changes[i], [&](int begin, int end, const std::vector<int64_t>& usages) {
      AddSegment(core.segments[i], row[begin], row[end], usages,
                 *std::min_element(usages.begin(), usages.end()));
    });
  }
}

void AddEdges(const ContractedGraph& graph, const std::vector<int>& index, ChoiceCore& core) {
  core.adjacent.resize(core.size());
  for (const ContractedGraph::Edge& edge : graph.edges()) {
    if (!edge.live) continue;
    CoreEdge added{index[edge.a], index[edge.b], edge.costs};
    if (added.a > added.b) {
      const size_t rows = graph.nodes()[edge.a].costs.size();
      const size_t columns = graph.nodes()[edge.b].costs.size();
      std::swap(added.a, added.b);
      for (size_t s = 0; s < rows; ++s) {
        for (size_t t = 0; t < columns; ++t) added.costs[t * rows + s] = edge.costs[s * columns + t];
      }
    }
    core.edges.push_back(std::move(added));
  }
  std::sort(core.edges.begin(), core.edges.end(),
            [](const CoreEdge& x, const CoreEdge& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  for (size_t e = 0; e < core.edges.size(); ++e) {
    core.adjacent[core.edges[e].a].emplace_back(core.edges[e].b, static_cast<int>(e));
    core.adjacent[core.edges[e].b].emplace_back(core.edges[e].a, static_cast<int>(e));
  }
}

}  // namespace

absl::StatusOr<Reduction> ReduceBelow(const ChoiceProblem& problem, int64_t most) {
  ContractedGraph graph(problem);
  Reduction reduction;
  reduction.original_nodes = static_cast<int>(problem.nodes.size());
  for (int round = 0; round < kRounds; ++round) {
    RETURN_IF_ERROR(graph.Contract(problem));
    reduction.core.constant = AddCosts(reduction.core.constant, graph.TakeConstant());
    graph.ForbidAbove(most - reduction.core.constant);
    RETURN_IF_ERROR(graph.Contract(problem));
    if (!graph.DropDominated(problem)) break;
  }
  RETURN_IF_ERROR(graph.Contract(problem));
  reduction.core.constant = AddCosts(reduction.core.constant, graph.TakeConstant());
  std::vector<std::pair<int, int>> order;  // First member, node.
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const ContractedGraph::Node& node = graph.nodes()[i];
    if (node.live) order.emplace_back(node.members.empty() ? 0 : node.members[0].first, static_cast<int>(i));
  }
  std::sort(order.begin(), order.end());
  std::vector<int> index(graph.nodes().size(), -1);
  for (size_t k = 0; k < order.size(); ++k) {
    const ContractedGraph::Node& node = graph.nodes()[order[k].second];
    index[order[k].second] = static_cast<int>(k);
    reduction.core.costs.push_back(node.costs);
    reduction.members.push_back(node.members);
  }
  AddEdges(graph, index, reduction.core);
  AddMemory(problem, reduction);
  return reduction;
}

absl::StatusOr<Reduction> Reduce(const ChoiceProblem& problem) {
  return ReduceBelow(problem, kForbidden - 1);
}

std::vector<int> Expand(const Reduction& reduction, const std::vector<int>& core_choice) {
  std::vector<int> choice(reduction.original_nodes, 0);
  for (size_t i = 0; i < core_choice.size(); ++i) {
    for (const auto& [original, map] : reduction.members[i]) choice[original] = map[core_choice[i]];
  }
  return choice;
}

std::vector<int> Contract(const Reduction& reduction, const std::vector<int>& choice) {
  std::vector<int> core_choice(reduction.members.size(), 0);
  for (size_t i = 0; i < core_choice.size(); ++i) {
    std::vector<int> agree(reduction.core.strategies(static_cast<int>(i)), 0);
    for (const auto& [original, map] : reduction.members[i]) {
      for (size_t s = 0; s < agree.size(); ++s) agree[s] += map[s] == choice[original];
    }
    core_choice[i] = static_cast<int>(std::max_element(agree.begin(), agree.end()) - agree.begin());
  }
  return core_choice;
}

int64_t CoreCost(const ChoiceCore& core, const std::vector<int>& choice) {
  int64_t cost = core.constant;
  for (int i = 0; i < core.size(); ++i) cost = AddCosts(cost, core.costs[i][choice[i]]);
  for (const CoreEdge& edge : core.edges) {
    cost = AddCosts(
        cost, edge.costs[static_cast<size_t>(choice[edge.a]) * core.costs[edge.b].size() + choice[edge.b]]);
  }
  return cost;
}

}  // namespace toroid
