#include "partitioner/choice/contraction.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {

ContractedGraph::ContractedGraph(const ChoiceProblem& problem) {
  nodes_.resize(problem.nodes.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].costs = problem.nodes[i].costs;
    for (int64_t& cost : nodes_[i].costs) cost = std::min(cost, kForbidden);
    std::vector<int> same(nodes_[i].costs.size());
    std::iota(same.begin(), same.end(), 0);
    nodes_[i].members.emplace_back(static_cast<int>(i), std::move(same));
  }
  for (const ChoiceEdge& edge : problem.edges) {
    if (edge.nodes.size() == 1) {
      std::vector<int64_t>& costs = nodes_[edge.nodes[0]].costs;
      for (size_t s = 0; s < costs.size(); ++s)
        costs[s] = AddCosts(costs[s], std::min(edge.costs[s], kForbidden));
    } else if (edge.nodes.size() == 2) {
      AddEdge(edge.nodes[0], edge.nodes[1], edge.costs);
    } else {
      AddWideEdge(edge);
    }
  }
  queued_.assign(nodes_.size(), false);
}

int64_t& ContractedGraph::Cell(Edge& edge, int node, int strategy, int other) {
  const size_t row = edge.a == node ? strategy : other;
  const size_t column = edge.a == node ? other : strategy;
  return edge.costs[row * nodes_[edge.b].costs.size() + column];
}

void ContractedGraph::AddEdge(int a, int b, std::vector<int64_t> costs) {
  for (int64_t& cost : costs) cost = std::min(cost, kForbidden);
  if (a == b) {
    const size_t size = nodes_[a].costs.size();
    for (size_t s = 0; s < size; ++s) nodes_[a].costs[s] = AddCosts(nodes_[a].costs[s], costs[s * size + s]);
    return;
  }
  const auto [old, added] = nodes_[a].edges.try_emplace(b, static_cast<int>(edges_.size()));
  if (added) {
    nodes_[b].edges[a] = static_cast<int>(edges_.size());
    edges_.push_back({a, b, std::move(costs)});
    return;
  }
  Edge& edge = edges_[old->second];
  for (int s = 0; s < Strategies(a); ++s) {
    for (int t = 0; t < Strategies(b); ++t) {
      int64_t& cell = Cell(edge, a, s, t);
      cell = AddCosts(cell, costs[static_cast<size_t>(s) * Strategies(b) + t]);
    }
  }
}

// A node of its own whose strategies are the combinations that are allowed, tied to each of the edge's nodes.
void ContractedGraph::AddWideEdge(const ChoiceEdge& edge) {
  const int added = static_cast<int>(nodes_.size());
  nodes_.emplace_back();
  std::vector<size_t> cells;
  for (size_t c = 0; c < edge.costs.size(); ++c) {
    if (edge.costs[c] < kForbidden) cells.push_back(c);
  }
  if (cells.empty()) cells.push_back(0);  // Forbidden: found by Contract.
  for (const size_t c : cells) nodes_[added].costs.push_back(std::min(edge.costs[c], kForbidden));
  size_t stride = edge.costs.size();
  for (const int node : edge.nodes) {
    const size_t size = nodes_[node].costs.size();
    stride /= size;
    std::vector<int64_t> tie(cells.size() * size, kForbidden);
    for (size_t k = 0; k < cells.size(); ++k) tie[k * size + cells[k] / stride % size] = 0;
    AddEdge(added, node, std::move(tie));
  }
}

void ContractedGraph::Keep(int node, const std::vector<int>& strategies) {
  for (const auto& [neighbour, index] : nodes_[node].edges) {
    Edge& edge = edges_[index];
    std::vector<int64_t> costs;
    costs.reserve(strategies.size() * Strategies(neighbour));
    if (edge.a == node) {
      for (const int s : strategies) {
        for (int t = 0; t < Strategies(neighbour); ++t) costs.push_back(Cell(edge, node, s, t));
      }
    } else {
      for (int t = 0; t < Strategies(neighbour); ++t) {
        for (const int s : strategies) costs.push_back(Cell(edge, node, s, t));
      }
    }
    edge.costs = std::move(costs);
  }
  const auto keep = [&](auto& list) {
    for (size_t k = 0; k < strategies.size(); ++k) list[k] = list[strategies[k]];
    list.resize(strategies.size());
  };
  keep(nodes_[node].costs);
  for (auto& [original, map] : nodes_[node].members) keep(map);
}

bool ContractedGraph::DropUnsupported(int node) {
  std::vector<int> kept;
  for (int s = 0; s < Strategies(node); ++s) {
    bool supported = nodes_[node].costs[s] < kForbidden;
    for (auto it = nodes_[node].edges.begin(); supported && it != nodes_[node].edges.end(); ++it) {
      supported = false;
      for (int t = 0; !supported && t < Strategies(it->first); ++t) {
        supported = Cell(edges_[it->second], node, s, t) < kForbidden;
      }
    }
    if (supported) kept.push_back(s);
  }
  if (static_cast<int>(kept.size()) == Strategies(node)) return false;
  Keep(node, kept);
  return true;
}

std::vector<int> ContractedGraph::OnlyPartners(int a, int b, int index) {
  std::vector<int> partners(Strategies(a), -1);
  for (int s = 0; s < Strategies(a); ++s) {
    for (int t = 0; t < Strategies(b); ++t) {
      if (Cell(edges_[index], a, s, t) >= kForbidden) continue;
      if (partners[s] >= 0) return {};
      partners[s] = t;
    }
    if (partners[s] < 0) return {};
  }
  return partners;
}

void ContractedGraph::Merge(int into, int node, const std::vector<int>& partners) {
  const int size = Strategies(into);
  Edge& tie = edges_[nodes_[into].edges.at(node)];
  for (int s = 0; s < size; ++s) {
    int64_t& cost = nodes_[into].costs[s];
    cost = AddCosts(cost, AddCosts(nodes_[node].costs[partners[s]], Cell(tie, into, s, partners[s])));
  }
  for (const auto& [original, map] : nodes_[node].members) {
    std::vector<int> composed(size);
    for (int s = 0; s < size; ++s) composed[s] = map[partners[s]];
    nodes_[into].members.emplace_back(original, std::move(composed));
  }
  tie = {0, 0, {}, false};
  nodes_[into].edges.erase(node);
  nodes_[node].edges.erase(into);
  const std::map<int, int> edges = std::move(nodes_[node].edges);
  for (const auto& [neighbour, index] : edges) {
    std::vector<int64_t> costs;
    for (int s = 0; s < size; ++s) {
      for (int t = 0; t < Strategies(neighbour); ++t)
        costs.push_back(Cell(edges_[index], node, partners[s], t));
    }
    edges_[index] = {0, 0, {}, false};
    nodes_[neighbour].edges.erase(node);
    AddEdge(into, neighbour, std::move(costs));
  }
  nodes_[node] = Node();
  nodes_[node].live = false;
}

int ContractedGraph::MergeOne(int node) {
  for (const auto& [neighbour, index] : nodes_[node].edges) {
    const std::vector<int> forward = OnlyPartners(node, neighbour, index);
    const std::vector<int> backward = OnlyPartners(neighbour, node, index);
    // Not the nodes that are only determined by another: their edges would grow.
    const bool into = !forward.empty() && (!backward.empty() || Strategies(neighbour) == 1);
    const bool from = !backward.empty() && (!forward.empty() || Strategies(node) == 1);
    if (from && (!into || nodes_[neighbour].edges.size() > nodes_[node].edges.size())) {
      const int target = neighbour;
      Merge(target, node, backward);
      return target;
    }
    if (into) {
      Merge(node, neighbour, forward);
      return node;
    }
  }
  return -1;
}

void ContractedGraph::Push(int node) {
  if (queued_[node]) return;
  queued_[node] = true;
  queue_.push_back(node);
}

void ContractedGraph::PushAround(int node) {
  Push(node);
  for (const auto& [neighbour, edge] : nodes_[node].edges) Push(neighbour);
}

absl::Status ContractedGraph::Contract(const ChoiceProblem& problem) {
  queued_.resize(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) Push(static_cast<int>(i));
  while (!queue_.empty()) {
    const int node = queue_.front();
    queue_.pop_front();
    queued_[node] = false;
    if (!nodes_[node].live) continue;
    if (DropUnsupported(node)) {
      if (nodes_[node].costs.empty()) {
        const int first = nodes_[node].members.empty() ? -1 : nodes_[node].members[0].first;
        return absl::FailedPreconditionError(
            absl::StrCat(first < 0 ? "an edge of several nodes" : NodeName(problem, first),
                         ": no strategy goes with those of its neighbours"));
      }
      PushAround(node);
    }
    if (const int merged = MergeOne(node); merged >= 0) PushAround(merged);
  }
  return absl::OkStatus();
}

void ContractedGraph::ForbidAbove(int64_t most) {
  for (Node& node : nodes_) {
    for (int64_t& cost : node.costs) cost = cost > most ? kForbidden : cost;
  }
  for (Edge& edge : edges_) {
    for (int64_t& cost : edge.costs) cost = cost > most ? kForbidden : cost;
  }
}

bool ContractedGraph::IsDominated(const ChoiceProblem& problem, int node, int strategy, int by) {
  int64_t more = nodes_[node].costs[by] - nodes_[node].costs[strategy];
  if (more > 0) return false;
  for (const auto& [original, map] : nodes_[node].members) {
    const ChoiceNode& member = problem.nodes[original];
    if (member.begin < member.end && member.usages[map[by]] > member.usages[map[strategy]]) return false;
  }
  for (const auto& [neighbour, index] : nodes_[node].edges) {
    int64_t most = -kForbidden;
    for (int t = 0; t < Strategies(neighbour); ++t) {
      const int64_t ours = Cell(edges_[index], node, strategy, t);
      if (ours >= kForbidden) continue;
      most = std::max(most, Cell(edges_[index], node, by, t) - ours);
      if (more + most > 0) return false;
    }
    more += most;
  }
  return more <= 0;
}

bool ContractedGraph::DropDominated(const ChoiceProblem& problem) {
  bool dropped = false;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].live) continue;
    const int node = static_cast<int>(i);
    std::vector<int> kept(Strategies(node));
    std::iota(kept.begin(), kept.end(), 0);
    for (size_t k = 0; k < kept.size();) {
      const bool dominated = std::any_of(kept.begin(), kept.end(), [&](int by) {
        return by != kept[k] && IsDominated(problem, node, kept[k], by);
      });
      if (dominated) {
        kept.erase(kept.begin() + k);
      } else {
        ++k;
      }
    }
    if (static_cast<int>(kept.size()) == Strategies(node)) continue;
    dropped = true;
    Keep(node, kept);
  }
  return dropped;
}

int64_t ContractedGraph::TakeConstant() {
  int64_t sum = 0;
  for (Node& node : nodes_) {
    if (!node.live) continue;
    const int64_t least = *std::min_element(node.costs.begin(), node.costs.end());
    sum = AddCosts(sum, least);
    for (int64_t& cost : node.costs) cost = cost >= kForbidden ? kForbidden : cost - least;
  }
  return sum;
}

}  // namespace toroid
